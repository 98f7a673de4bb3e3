// Runs a program without a shell and captures its output.
#ifndef DL_CPU_EXTENSIONS_PROCESS_H_
#define DL_CPU_EXTENSIONS_PROCESS_H_

#include <string>
#include <vector>

namespace dl::cpu {

struct Finished {
  bool in_time;        // otherwise it was killed, with all its children
  bool good;           // it exited with status 0
  std::string output;  // both outputs, truncated
};

// Run `words` (the first one is the program's path) with exactly this `environment` and a timeout
// of `seconds`. Throws Error if the program cannot be started.
Finished run_program(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment, double seconds);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_PROCESS_H_
