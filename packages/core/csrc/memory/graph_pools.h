// Memory pools of captured graphs. A replay uses the addresses of the capture, so memory allocated
// during the capture comes from a pool that serves nothing else while the graph exists. Within a
// capture, blocks are reused in stream order, as usual.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdint>

namespace dl::core {

// Number of capturing streams, on all devices.
extern std::atomic<int> running_captures;

// The pool for allocations of `stream`, as a key of DeviceState::other_memory: the stream itself,
// unless it is capturing.
int64_t captured_pool_of(int device, int64_t stream);
inline int64_t pool_of(int device, int64_t stream) {
  if (C10_LIKELY(running_captures.load(std::memory_order_relaxed) == 0)) return stream;
  return captured_pool_of(device, stream);
}

// Thrown for an operation that cannot be captured in a graph.
class CaptureError : public c10::Error {
 public:
  using c10::Error::Error;
};

// Returns true if the thread's current stream is capturing.
bool is_capturing(int device);
// Throws CaptureError if the stream is capturing; `what` names the operation: "random numbers".
void check_not_capturing(int device, const char* what);

// Returns a unique name for a pool.
c10::MempoolId_t new_pool_name();
// The pool is held until release_pool() has been called once for each begin_pool().
void begin_pool(int device, int64_t stream, c10::MempoolId_t pool);
void end_pool(int device, int64_t stream);
void release_pool(int device, c10::MempoolId_t pool);

}  // namespace dl::core
