#include "memory/device_state.h"

#include <c10/core/AllocatorConfig.h>

#include "memory/growth.h"
#include "runtime/first_use.h"

namespace dl::core {

std::array<std::atomic<DeviceState*>, kMaxDevices> device_states{};

namespace {

size_t total_memory(int device) noexcept {
  try {
    const Device& owner = device_unchecked(device);
    const size_t total = owner.properties().total_memory;
    if (total != 0 || owner.vendor->slots().memory_info == nullptr) return total;
    return free_and_total_bytes(owner).second;
  } catch (...) {
    return 0;
  }
}

}  // namespace

DeviceState& make_device_state(int device) {
  note_first_use();
  static std::mutex mutex;
  const std::lock_guard<std::mutex> guard(mutex);
  if (device_states[device].load() == nullptr)
    device_states[device].store(
        new DeviceState(total_memory(device), device_unchecked(device).allocation_padding()));
  return *device_states[device].load();
}

namespace {

// Counts free blocks in segments that cannot be released because another of their blocks is used.
void count_inactive_split(DeviceState& state, c10::CachingDeviceAllocator::DeviceStats& stats) {
  int64_t blocks = 0, bytes = 0;
  state.each_memory([&](FreeMemory& memory) {
    for (const Segment* segment : memory.segments()) {
      if (segment->first->after == nullptr) continue;
      for (const Block* block = segment->first; block != nullptr; block = block->after) {
        if (block->state != BlockState::cached && block->state != BlockState::free) continue;
        ++blocks;
        bytes += static_cast<int64_t>(block->bytes);
      }
    }
  });
  stats.inactive_split[0].current = stats.inactive_split[0].peak = blocks;
  stats.inactive_split_bytes[0].current = stats.inactive_split_bytes[0].peak = bytes;
}

// A freed block that another stream still uses counts as active, though no tensor owns it.
c10::CachingAllocator::Stat active(const Tally& allocated, const Tally& waiting) {
  c10::CachingAllocator::Stat stat = allocated.stat();
  stat.current += waiting.current();
  stat.peak = std::max(stat.peak, stat.current);
  stat.freed -= waiting.current();
  return stat;
}

}  // namespace

c10::CachingDeviceAllocator::DeviceStats stats_of(int device) {
  DeviceState& state = state_of(device);
  const std::lock_guard<SpinLock> guard(state.lock);
  c10::CachingDeviceAllocator::DeviceStats stats;
  stats.allocation[0] = state.allocations.stat();
  stats.active[0] = active(state.allocations, state.waiting_blocks);
  stats.allocated_bytes[0] = state.allocated.stat();
  stats.active_bytes[0] = active(state.allocated, state.waiting_bytes);
  stats.reserved_bytes[0] = state.reserved.stat();
  stats.requested_bytes[0] = state.requested.stat();
  stats.segment[0] = state.segments.stat();
  count_inactive_split(state, stats);
  stats.num_alloc_retries = state.retries;
  stats.num_ooms = state.ooms;
  stats.num_device_alloc = state.vendor_allocations;
  stats.num_device_free = state.vendor_frees;
  stats.num_sync_all_streams = state.synchronizations;
  stats.max_split_size =
      static_cast<int64_t>(c10::CachingAllocator::AcceleratorAllocatorConfig::max_split_size());
  return stats;
}

}  // namespace dl::core
