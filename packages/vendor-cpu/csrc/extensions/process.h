// Running a program, without a shell, and reading what it says.
#ifndef DL_CPU_EXTENSIONS_PROCESS_H_
#define DL_CPU_EXTENSIONS_PROCESS_H_

#include <string>
#include <vector>

namespace dl::cpu {

struct Finished {
  bool in_time;      // else it was killed, with all that it had started
  bool good;         // it ended by itself, with status 0
  std::string said;  // on both outputs; of much, the beginning
};

// Runs `words`, the first of which is the program's path, with `environment` and no more, for
// `seconds` at most. Throws Error where it cannot be started.
Finished run_program(const std::vector<std::string>& words,
                     const std::vector<std::string>& environment, double seconds);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_PROCESS_H_
