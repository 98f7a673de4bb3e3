// Memory of captured graphs. A graph is replayed with the addresses it was captured with, so what
// is allocated while a stream captures comes from a pool that serves nothing else as long as the
// graph lives. Within a capture, blocks are used again in the stream's order, as always.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdint>

namespace dl::core {

// Of streams, on all devices.
extern std::atomic<int> running_captures;

// Where memory for `stream` comes from: a key of DeviceState::other_memory, the stream itself
// unless it captures.
int64_t captured_pool_of(int device, int64_t stream);
inline int64_t pool_of(int device, int64_t stream) {
  if (C10_LIKELY(running_captures.load(std::memory_order_relaxed) == 0)) return stream;
  return captured_pool_of(device, stream);
}

// What cannot be part of a graph was called while one was captured.
class CaptureError : public c10::Error {
 public:
  using c10::Error::Error;
};

// Whether the thread's current stream captures.
bool is_capturing(int device);
// Throws CaptureError if it does: `what` cannot be part of a graph. "random numbers"
void check_not_capturing(int device, const char* what);

// A name that no pool has.
c10::MempoolId_t new_pool_name();
// `pool` is held until release_pool() was called as often.
void begin_pool(int device, int64_t stream, c10::MempoolId_t pool);
void end_pool(int device, int64_t stream);
void release_pool(int device, c10::MempoolId_t pool);

}  // namespace dl::core
