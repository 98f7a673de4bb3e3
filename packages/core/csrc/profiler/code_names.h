// Names of Python code that torch's tracer still points to when the code is gone.
#pragma once

namespace dl::core::profiler {

// While one lives, the names of code that is run once - a module that is imported, a function that
// is compiled from text - are kept in memory, where they stay for the rest of the process.
class CodeNames {
 public:
  CodeNames();
  ~CodeNames();
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;
};

}  // namespace dl::core::profiler
