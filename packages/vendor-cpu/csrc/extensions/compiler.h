// The host's C++ compiler, and its use by the kernel extension.
#ifndef DL_CPU_EXTENSIONS_COMPILER_H_
#define DL_CPU_EXTENSIONS_COMPILER_H_

#include <string>
#include <utility>
#include <vector>

#include "dl/kernel.h"

namespace dl::cpu {

// DL_CPU_CXX names it, by a path or as a program in PATH; "off" disables it. The default is the
// first of c++, g++ and clang++ in PATH. A program that other users may have put there is not used.
struct Compiler {
  std::string path;         // empty if unavailable
  std::string unavailable;  // reason and remedy
};
Compiler find_compiler();

// A checked source, in the form that this vendor supports.
struct Source {
  // Throws Error for options and names that must not be passed to the compiler.
  explicit Source(const dl_kernel_source_t* source);

  std::string name;
  std::string text;
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers;
  double seconds;
};

struct Compiled {
  std::string library;                    // contents of the file
  std::string log;                        // warnings
  std::vector<std::string> dependencies;  // other files that the source includes
  std::string stack_usage;                // lines of a function's name and its stack bytes
};

// Return the settings that distinguish one compilation from another, apart from the source.
std::string compilation_identity(const Compiler& compiler);

// Compile in a temporary folder, in the first of the work folders with enough space. Throws Error
// with the log.
Compiled compile(const Compiler& compiler, const Source& source,
                 const std::vector<std::string>& work_folders);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_COMPILER_H_
