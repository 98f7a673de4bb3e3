// Names of Python code that torch's tracer refers to after the code was freed.
#pragma once

namespace dl::core::profiler {

// While an object of this class exists, the names of code that runs once - an imported module, a
// function compiled from text - are recorded. They are kept until the process exits.
class CodeNames {
 public:
  CodeNames();
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;
};

}  // namespace dl::core::profiler
