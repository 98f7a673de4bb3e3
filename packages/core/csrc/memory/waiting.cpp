#include "memory/waiting.h"

#include <utility>

#include "memory/device_state.h"
#include "memory/watcher.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

void destroy(const Device& owner, void* event) noexcept {
  owner.vendor->call_noexcept(&dl_vendor_table_t::event_destroy, "event_destroy", owner.local,
                              event);
}

void* record(const Device& owner, const c10::Stream& stream) {
  void* event = nullptr;
  owner.vendor->call(&dl_vendor_table_t::event_create, "event_create", owner.local, uint64_t{0},
                     &event);
  try {
    owner.vendor->call(&dl_vendor_table_t::event_record, "event_record", owner.local, event,
                       native_stream(stream));
  } catch (...) {
    destroy(owner, event);
    throw;
  }
  return event;
}

// An error on the device counts as completion, because no earlier work will run any more.
bool has_passed(const Device& owner, void* event) noexcept {
  int32_t done = 0;
  try {
    owner.vendor->call(&dl_vendor_table_t::event_query, "event_query", owner.local, event, &done);
  } catch (...) {
    return true;
  }
  return done != 0;
}

bool is_free(const Device& owner, WaitingBlock& waiting) noexcept {
  while (!waiting.events.empty() && has_passed(owner, waiting.events.back())) {
    destroy(owner, waiting.events.back());
    waiting.events.pop_back();
  }
  return waiting.events.empty();
}

void free_locked(DeviceState& state, Block* block) {
  state.waiting_blocks.decrease(1);
  state.waiting_bytes.decrease(static_cast<int64_t>(block->bytes));
  block->segment->pool->give_back(block);
}

}  // namespace

void wait_for_streams(Block* block) noexcept {
  const Device& owner = device_unchecked(block->device);
  DeviceState& state = state_of(block->device);
  WaitingBlock waiting{block, {}};
  try {
    for (const c10::Stream& stream : block->other_streams)
      waiting.events.push_back(record(owner, stream));
  } catch (...) {
    // Without working events, only a device synchronization keeps the memory safe.
    owner.vendor->call_noexcept(&dl_vendor_table_t::device_synchronize, "device_synchronize",
                                owner.local);
  }
  block->other_streams.clear();
  block->state = BlockState::waiting;
  const std::lock_guard<SpinLock> guard(state.lock);
  state.waiting_blocks.increase(1);
  state.waiting_bytes.increase(static_cast<int64_t>(block->bytes));
  state.waiting.push_back(std::move(waiting));
}

void collect_waiting(int device) {
  const Device& owner = device_unchecked(device);
  DeviceState& state = state_of(device);
  std::vector<WaitingBlock> looked_at;
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    looked_at.swap(state.waiting);
  }
  // The lock is released, because the vendor's call may take long.
  std::vector<WaitingBlock> still;
  std::vector<Block*> freed;
  for (WaitingBlock& waiting : looked_at) {
    if (is_free(owner, waiting)) {
      freed.push_back(waiting.block);
    } else {
      still.push_back(std::move(waiting));
    }
  }
  if (memory_watchers.load(std::memory_order_relaxed) != 0) {
    for (const Block* block : freed)
      tell_memory_watchers(
          {MemoryEvent::reusable, device, block->memory, block->bytes, block->stream});
  }
  const std::lock_guard<SpinLock> guard(state.lock);
  for (Block* block : freed) free_locked(state, block);
  for (WaitingBlock& waiting : still) state.waiting.push_back(std::move(waiting));
}

}  // namespace dl::core
