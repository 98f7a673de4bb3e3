// Discovery of libraries of other wheels in the same environment.
#ifndef DL_CPU_LIBRARY_FIND_H_
#define DL_CPU_LIBRARY_FIND_H_

#include <string>

namespace dl::cpu {

// Paths where wheels install a library: in a folder next to this package in site-packages, or, as
// data, in the prefix of the environment. Empty: not there.
struct WheelPaths {
  std::string beside_us;
  std::string in_prefix;
};

// Open the library named by the environment variable `variable`; "off" returns null. If it is not
// set: the one at `paths`, otherwise `soname` in the system's folders. Only absolute paths that
// dl/trust.hpp trusts are loaded, never from the current folder.
void* open_library(const char* variable, const WheelPaths& paths, const char* soname);

// Return why a path named by the user cannot be loaded, as the end of a sentence; NULL if it can.
const char* why_not_loadable(const char* path);

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_FIND_H_
