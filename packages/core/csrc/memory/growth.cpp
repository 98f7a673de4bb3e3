#include "memory/growth.h"

#include <c10/util/Exception.h>

#include <optional>
#include <utility>
#include <vector>

#include "memory/device_state.h"
#include "memory/lending.h"
#include "memory/out_of_memory.h"
#include "memory/segments.h"
#include "memory/settings.h"
#include "memory/waiting.h"
#include "memory/watcher.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

bool is_beyond(int device, size_t bytes, double part) {
  DeviceState& state = state_of(device);
  const auto total = static_cast<double>(free_and_total_bytes(device_unchecked(device)).second);
  const std::lock_guard<SpinLock> guard(state.lock);
  return static_cast<double>(state.reserved.current()) + static_cast<double>(bytes) >
         part * state.fraction * total;
}

void tell(MemoryEvent event, int device, const void* memory, size_t bytes, int64_t stream) {
  if (memory_watchers.load(std::memory_order_relaxed) != 0)
    tell_memory_watchers({event, device, memory, bytes, stream});
}

}  // namespace

std::pair<size_t, size_t> free_and_total_bytes(const Device& owner) {
  uint64_t free_bytes = 0, total_bytes = 0;
  owner.vendor->call(&dl_vendor_table_t::memory_info, "memory_info", owner.local, &free_bytes,
                     &total_bytes);
  return {free_bytes, total_bytes};
}

Segment* new_segment(int device, int64_t stream, size_t bytes, size_t length, std::string* reason) {
  const Device& owner = device_unchecked(device);
  DeviceState& state = state_of(device);
  if (state.fraction < 1 && is_beyond(device, bytes, 1)) {
    *reason = "set_per_process_memory_fraction() allows no more.";
    return nullptr;
  }
  void* memory = nullptr;
  try {
    owner.vendor->call(&dl_vendor_table_t::memory_allocate, "memory_allocate", owner.local,
                       static_cast<uint64_t>(bytes), &memory);
  } catch (const c10::OutOfMemoryError& error) {
    *reason = error.what_without_backtrace();
    return nullptr;
  }
  note_segment(memory, bytes, device);
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    ++state.vendor_allocations;
    state.reserved.increase(static_cast<int64_t>(bytes));
    state.segments.increase(1);
  }
  tell(MemoryEvent::segment_allocated, device, memory, bytes, stream);
  return new Segment{memory, bytes, length <= kSmallBlock, nullptr, nullptr};
}

void release_unused(int device) {
  synchronize_device(device);
  collect_loans();
  collect_waiting(device);
  std::vector<Segment*> unused;
  DeviceState& state = state_of(device);
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    ++state.synchronizations;
    state.each_memory([&](FreeMemory& memory) {
      if (memory.is_held()) return;
      while (Segment* segment = memory.remove_unused()) unused.push_back(segment);
    });
    for (const Segment* segment : unused) {
      state.reserved.decrease(static_cast<int64_t>(segment->bytes));
      state.segments.decrease(1);
      ++state.vendor_frees;
    }
  }
  const Device& owner = device_unchecked(device);
  for (Segment* segment : unused) {
    forget_segment(segment->memory);
    tell(MemoryEvent::segment_freed, device, segment->memory, segment->bytes, 0);
    owner.vendor->call_noexcept(&dl_vendor_table_t::memory_free, "memory_free", owner.local,
                                segment->memory);
    delete segment;
  }
}

// As for other device types, the threshold is a fraction of the limit that
// set_per_process_memory_fraction() sets.
void collect_garbage(int device, size_t bytes) {
  const double threshold = garbage_collection_threshold();
  if (threshold <= 0 || state_of(device).fraction >= 1) return;
  if (is_beyond(device, bytes, threshold)) release_unused(device);
}

void fail_out_of_memory(int device, int64_t stream, size_t bytes, const std::string& reason) {
  DeviceState& state = state_of(device);
  int64_t allocated = 0, reserved = 0;
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    ++state.ooms;
    allocated = state.allocated.current();
    reserved = state.reserved.current();
  }
  tell(MemoryEvent::out_of_memory, device, nullptr, bytes, stream);
  const Device& owner = device_unchecked(device);
  std::optional<std::pair<size_t, size_t>> memory;
  if (owner.vendor->slots().memory_info != nullptr) memory = free_and_total_bytes(owner);
  throw_out_of_memory(bytes, device, owner.description(), memory, allocated, reserved,
                      reason.c_str());
}

void set_memory_fraction(int index, double fraction) {
  TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1,
                    "[set_per_process_memory_fraction] the fraction must be between 0 and 1, but "
                    "is ",
                    fraction);
  const Device& owner = device(index);
  TORCH_CHECK_NOT_IMPLEMENTED(owner.vendor->slots().memory_info != nullptr || fraction == 1,
                              "[set_per_process_memory_fraction] vendor ", owner.vendor->name(),
                              " does not report the memory size of dl:", index);
  DeviceState& state = state_of(index);
  const std::lock_guard<SpinLock> guard(state.lock);
  state.fraction = fraction;
}

double memory_fraction(int index) {
  device(index);
  return state_of(index).fraction;
}

}  // namespace dl::core
