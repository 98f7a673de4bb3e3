// Where other wheels of the same environment keep their libraries.
#ifndef DL_CPU_LIBRARY_FIND_H_
#define DL_CPU_LIBRARY_FIND_H_

#include <string>

namespace dl::cpu {

// Where wheels put a library: in a folder of their own beside ours in site-packages, or, as data,
// in the prefix of the environment. Empty: not there.
struct Places {
  std::string beside_us;
  std::string in_prefix;
};

// dlopen of the library that the environment variable `variable` names; "off" gives null. Where it
// is not set: of the one at its `places`, else of `soname` in the system's folders. What is loaded
// has an absolute path that dl/trust.hpp trusts; never is it looked for in the current folder.
void* open_library(const char* variable, const Places& places, const char* soname);

// What keeps a path that a user names from being loaded, as the end of a sentence; NULL if nothing.
const char* why_not_loaded(const char* path);

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_FIND_H_
