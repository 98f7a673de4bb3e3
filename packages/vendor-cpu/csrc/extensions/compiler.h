// The machine's C++ compiler, and what the kernel extension asks of it.
#ifndef DL_CPU_EXTENSIONS_COMPILER_H_
#define DL_CPU_EXTENSIONS_COMPILER_H_

#include <string>
#include <utility>
#include <vector>

#include "dl/kernel.h"

namespace dl::cpu {

// DL_CPU_CXX names it, by a path or as a program of PATH; "off" is none. Else it is the first of
// c++, g++ and clang++ in PATH. One that others could have put there is none.
struct Compiler {
  std::string path;         // empty: there is none
  std::string unavailable;  // why, with the way out
};
Compiler find_compiler();

// A source as this vendor takes it, checked.
struct Source {
  // Throws Error for what the compiler must not be given.
  explicit Source(const dl_kernel_source_t* source);

  std::string name;
  std::string text;
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;
  double seconds;
};

struct Compiled {
  std::string library;                    // the file
  std::string log;                        // warnings
  std::vector<std::string> dependencies;  // files that the source included, of others
  std::string stack_usage;                // lines of a function's name and bytes
};

// What distinguishes one compilation from another, apart from the source.
std::string compilation_identity(const Compiler& compiler);

// Compiles in a new folder in the first of the workplaces that has room for it. Throws Error, with
// the log.
Compiled compile(const Compiler& compiler, const Source& source,
                 const std::vector<std::string>& workplaces);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_COMPILER_H_
