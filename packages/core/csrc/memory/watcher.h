// Who wants to know of every block that is handed out or comes back: the history of the allocator,
// the profiler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dl::core {

enum class MemoryEvent {
  allocated,
  freed,              // by its tensor
  reusable,           // the other streams that used it have passed
  segment_allocated,  // by the vendor
  segment_freed,
  out_of_memory,  // `bytes` could not be had
};

struct MemoryNews {
  MemoryEvent event;
  int device;
  const void* memory;
  size_t bytes;
  int64_t stream;
  // Bytes on this device after the event; filled in for the watchers.
  int64_t allocated = 0;
  int64_t reserved = 0;
};

class MemoryWatcher {
 public:
  virtual ~MemoryWatcher() = default;
  // On the thread that allocates or frees, without a lock. Must not throw.
  virtual void notice(const MemoryNews& news) noexcept = 0;
};

// Watchers are added and removed while no other thread adds or removes one, and live as long as the
// process: another thread may just be telling them something.
void add_memory_watcher(MemoryWatcher* watcher);
void remove_memory_watcher(MemoryWatcher* watcher);

extern std::atomic<int> memory_watchers;  // how many
void tell_memory_watchers(MemoryNews news) noexcept;

}  // namespace dl::core
