// Allocator state of a device: free memory and counters.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/block.h"
#include "memory/free_memory.h"
#include "memory/spin_lock.h"
#include "memory/tally.h"
#include "runtime/device.h"

namespace dl::core {

// Host memory that was turned into memory of a device.
struct Adopted {
  at::DataPtr memory;
  size_t bytes = 0;
  int device = 0;
};

// A freed block that other streams may still use; it becomes free when the events have completed.
struct WaitingBlock {
  Block* block;
  std::vector<void*> events;
};

struct DeviceState {
  DeviceState(size_t total_bytes, size_t padding_bytes)
      : total(total_bytes), padding(padding_bytes) {}

  SpinLock lock;
  FreeMemory default_stream_memory;
  std::unordered_map<int64_t, FreeMemory> other_memory;  // by stream, or by graph pool
  std::vector<WaitingBlock> waiting;
  std::vector<Adopted*> unused_adopted;  // cached for reuse
  Tally allocated, reserved, requested, allocations, segments, waiting_blocks, waiting_bytes;
  int64_t retries = 0, ooms = 0, vendor_allocations = 0, vendor_frees = 0;
  int64_t synchronizations = 0;  // device synchronizations made to free memory
  double fraction = 1;           // share of the device's memory that this process may use
  const size_t total;            // bytes of the device; 0: unknown
  const size_t padding;          // bytes without data behind each block

  FreeMemory& memory_of(int64_t stream) {
    return stream == 0 ? default_stream_memory : other_memory[stream];
  }

  template <typename F>
  void each_memory(F&& f) {
    f(default_stream_memory);
    for (auto& [stream, memory] : other_memory) f(memory);
  }
};

// Created at a device's first allocation and never freed.
extern std::array<std::atomic<DeviceState*>, kMaxDevices> device_states;
DeviceState& make_device_state(int device);

inline DeviceState& state_of(int device) {
  DeviceState* const state = device_states[device].load(std::memory_order_acquire);
  return C10_LIKELY(state != nullptr) ? *state : make_device_state(device);
}

// Counters and settings in torch's format.
c10::CachingDeviceAllocator::DeviceStats stats_of(int device);

}  // namespace dl::core
