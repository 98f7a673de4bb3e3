// Observers of allocations and frees, such as the allocator's history and the profiler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dl::core {

enum class MemoryEvent {
  allocated,
  freed,              // by its tensor
  reusable,           // after other streams that used the memory have completed their work
  segment_allocated,  // by the vendor
  segment_freed,
  out_of_memory,  // an allocation of `bytes` failed
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
  // Called on the allocating or freeing thread, without a lock. Must not throw.
  virtual void notice(const MemoryNews& news) noexcept = 0;
};

// Watchers are added and removed by one thread at a time and are never freed, because another
// thread may be calling them.
void add_memory_watcher(MemoryWatcher* watcher);
void remove_memory_watcher(MemoryWatcher* watcher);

extern std::atomic<int> memory_watchers;  // number of watchers
void tell_memory_watchers(MemoryNews news) noexcept;

}  // namespace dl::core
