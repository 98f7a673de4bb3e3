// Names of Python code that torch's tracer refers to after the code was freed.
#pragma once

namespace dl::core::profiler {

// While an object exists, the names of code that runs once - an imported module, a function
// compiled from text - are retained, until the process exits.
class CodeNames {
 public:
  CodeNames();
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;
};

}  // namespace dl::core::profiler
