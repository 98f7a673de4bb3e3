// The conditions under which a fault occurs.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "elements.hpp"

namespace faulty {

// One call of the operator with the fault.
struct Call {
  int number;                  // counts the calls of this process, from 1
  const void* caller;          // return address
  std::vector<int64_t> first;  // shape of the result of the first call
};

// Torch runs backward in the calling thread or in its own: in both, a frame of the engine is among
// the callers.
inline bool in_backward() {
  constexpr int kFrames = 128;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; ++i) {
    Dl_info found;
    if (dladdr(frames[i], &found) != 0 && found.dli_sname != nullptr &&
        std::strstr(found.dli_sname, "autograd6Engine") != nullptr)
      return true;
  }
  return false;
}

inline bool in_other_thread() { return syscall(SYS_gettid) != getpid(); }

// Compiled graphs are run by dl-graph's library; torch's operators come from dl-core.
inline bool in_graph(const void* caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && found.dli_fname != nullptr &&
         std::strstr(found.dli_fname, "libdl_graph.so") != nullptr;
}

inline bool holds(const std::string& condition, const Call& call, const Elements& result) {
  // "range" holds for elements of a result, which are known once it is computed.
  if (condition == "always" || condition == "range") return true;
  if (condition == "nth") return call.number == 5;
  if (condition == "later") return call.number >= 5;
  if (condition == "rare") return call.number % 33 == 17;
  if (condition == "shape") return result.shape() != call.first;
  if (condition == "dtype") return result.dtype() == diopi_dtype_bfloat16;
  if (condition == "big") return result.bytes() > 1 << 20;
  if (condition == "thread") return in_other_thread();
  if (condition == "backward") return in_backward();
  if (condition == "compiled") return in_graph(call.caller);
  return false;
}

}  // namespace faulty
