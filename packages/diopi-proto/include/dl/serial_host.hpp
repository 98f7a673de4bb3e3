// A minimal host table without threads, for tools and tests.
#pragma once

#include <cstdlib>

#include "dl/host.h"

namespace dl {

using HostLog = void (*)(const dl_host_t*, int32_t level, const char* message);

// Returns a host without a thread pool: it allocates from the C library, and parallel_for runs the
// whole range on the calling thread.
inline dl_host_t serial_host(const char* name, HostLog log) {
  return {
      sizeof(dl_host_t),
      nullptr,
      name,
      "1",
      [](const dl_host_t*, uint64_t bytes, uint64_t alignment) -> void* {
        void* memory = nullptr;
        if (alignment < sizeof(void*)) alignment = sizeof(void*);
        return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
      },
      [](const dl_host_t*, void* memory) { std::free(memory); },
      log,
      [](const dl_host_t*, int64_t begin, int64_t end, int64_t, dl_range_fn body,
         void* arg) -> int32_t {
        if (begin < end) body(arg, begin, end);
        return DL_OK;
      },
      [](const dl_host_t*) -> int32_t { return 1; },
      [](const dl_host_t*) -> int32_t { return DL_MATMUL_FLOAT32; },
      [](const dl_host_t*) -> int32_t { return DL_MATMUL_FLOAT32; },
      [](const dl_host_t*) -> int32_t { return 0; },
  };
}

}  // namespace dl
