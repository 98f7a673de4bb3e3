#include "memory/allocator.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "memory/device_state.h"
#include "memory/graph_pools.h"
#include "memory/growth.h"
#include "memory/lending.h"
#include "memory/memory_checker.h"
#include "memory/segments.h"
#include "memory/settings.h"
#include "memory/sharing.h"
#include "memory/spin_lock.h"
#include "memory/transfer.h"
#include "memory/waiting.h"
#include "memory/watcher.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

void free_block(Block* block) noexcept {
  const int device = block->device;
  DeviceState& state = state_of(device);
  const bool used_elsewhere = !block->other_streams.empty();
  const bool watched = memory_watchers.load(std::memory_order_relaxed) != 0;
  MemoryNews news{MemoryEvent::freed, device, block->memory, block->bytes, block->stream};
  {
    const std::lock_guard<SpinLock> guard(state.lock);
    state.allocated.decrease(static_cast<int64_t>(block->bytes));
    state.requested.decrease(static_cast<int64_t>(block->requested));
    state.allocations.decrease(1);
    if (C10_LIKELY(!used_elsewhere)) block->segment->pool->give_back(block);
  }
  if (C10_UNLIKELY(used_elsewhere)) wait_for_streams(block);
  if (C10_UNLIKELY(watched)) {
    tell_memory_watchers(news);
    news.event = MemoryEvent::reusable;
    if (!used_elsewhere) tell_memory_watchers(news);
  }
}

void release_block(void* context) {
  if (C10_UNLIKELY(in_bad_fork())) return;  // a forked child must not free memory of its parent
  free_block(static_cast<Block*>(context));
}

void release_adopted(void* context) {
  auto* adopted = static_cast<Adopted*>(context);
  adopted->memory.clear();
  DeviceState& state = state_of(adopted->device);
  const std::lock_guard<SpinLock> guard(state.lock);
  const auto bytes = static_cast<int64_t>(adopted->bytes);
  state.allocated.decrease(bytes);
  state.requested.decrease(bytes);
  state.reserved.decrease(bytes);
  state.allocations.decrease(1);
  state.unused_adopted.push_back(adopted);
}

class Allocator final : public DeviceAllocator {
 public:
  at::DataPtr allocate(size_t bytes) override { return allocate_on(bytes, current_device()); }

  at::DataPtr allocate_on(size_t bytes, int index) override {
    const c10::Device where(kDeviceType, static_cast<c10::DeviceIndex>(index));
    if (bytes == 0) return {nullptr, where};
    // A negative size arrives here as a huge unsigned number.
    TORCH_CHECK(static_cast<int64_t>(bytes) > 0, "[dl] a negative number of bytes cannot be ",
                "allocated on dl:", index, ": ", static_cast<int64_t>(bytes));
    check_not_forked();
    const Device& owner = device(index);
    const int64_t stream = current_stream(index).id();
    DeviceState& state = state_of(index);
    const size_t length = round_size(bytes + state.padding, owner);
    const Request request{index, stream, pool_of(index, stream), length, bytes};
    Block* block = take_cached(state, request);
    if (C10_UNLIKELY(block == nullptr)) block = take(state, request);
    if (C10_UNLIKELY(memory_watchers.load(std::memory_order_relaxed) != 0)) {
      tell_memory_watchers({MemoryEvent::allocated, index, block->memory, block->bytes, stream});
    }
    return {block->memory, block, &release_block, where};
  }

  at::DataPtr adopt(at::DataPtr&& host_memory, size_t bytes, int index) override {
    void* memory = host_memory.get();
    const c10::Device where(kDeviceType, static_cast<c10::DeviceIndex>(index));
    if (memory == nullptr) return {nullptr, where};
    DeviceState& state = state_of(index);
    Adopted* adopted = nullptr;
    {
      const std::lock_guard<SpinLock> guard(state.lock);
      if (!state.unused_adopted.empty()) {
        adopted = state.unused_adopted.back();
        state.unused_adopted.pop_back();
      }
      state.allocated.increase(static_cast<int64_t>(bytes));
      state.requested.increase(static_cast<int64_t>(bytes));
      state.reserved.increase(static_cast<int64_t>(bytes));
      state.allocations.increase(1);
    }
    if (C10_UNLIKELY(adopted == nullptr)) adopted = new Adopted;
    adopted->memory = std::move(host_memory);
    adopted->bytes = bytes;
    adopted->device = index;
    return {memory, adopted, &release_adopted, where};
  }

  at::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    copy_within_device(device_of_pointer(destination), destination, source, bytes);
  }

  bool initialized() override { return device_count() > 0; }

  void emptyCache(c10::MempoolId_t) override {
    for (int index = 0; index < device_count(); ++index) release_unused(index);
  }

  void recordStream(const at::DataPtr& data, c10::Stream stream) override {
    if (data.get() == nullptr) return;
    void* context = data.get_deleter() == &release_block
                        ? data.get_context()
                        : context_behind(data.get(), &release_block);
    if (context == nullptr) context = context_of_lent(data.get(), &release_block);
    if (context == nullptr) return;
    auto* block = static_cast<Block*>(context);
    if (device_unchecked(block->device).synchronous) return;
    if (stream.id() == block->stream && stream.device_index() == block->device) return;
    DeviceState& state = state_of(block->device);
    const std::lock_guard<SpinLock> guard(state.lock);
    auto& streams = block->other_streams;
    if (std::find(streams.begin(), streams.end(), stream) == streams.end())
      streams.push_back(stream);
  }

  DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    device(index);
    return stats_of(index);
  }

  void resetAccumulatedStats(c10::DeviceIndex index) override {
    each_tally(index, [](Tally& tally) { tally.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    each_tally(index, [](Tally& tally) { tally.reset_peak(); });
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    return free_and_total_bytes(device(index));
  }

 private:
  // One allocation request.
  struct Request {
    int index;
    int64_t stream;
    int64_t pool;  // the stream, or the pool of the graph that the stream is capturing
    size_t length;
    size_t bytes;
  };

  static Block* take_cached(DeviceState& state, const Request& request) {
    const std::lock_guard<SpinLock> guard(state.lock);
    Block* const block = state.memory_of(request.pool).take(request.length);
    if (C10_LIKELY(block != nullptr)) count(state, block, request.bytes);
    return block;
  }

  static void count(DeviceState& state, Block* block, size_t bytes) {
    block->requested = bytes;
    state.allocated.increase(static_cast<int64_t>(block->bytes));
    state.requested.increase(static_cast<int64_t>(bytes));
    state.allocations.increase(1);
  }

  // Handles requests that take_cached() cannot serve: splits free memory, or gets new memory from
  // the vendor.
  static Block* take(DeviceState& state, const Request& request) {
    read_settings();
    collect_loans();
    collect_waiting(request.index);
    if (Block* block = search(state, request)) return block;
    return grow(state, request);
  }

  static Block* search(DeviceState& state, const Request& request) {
    const std::lock_guard<SpinLock> guard(state.lock);
    Block* const block = state.memory_of(request.pool)
                             .search(request.length, split_limits(device_unchecked(request.index)));
    if (block != nullptr) count(state, block, request.bytes);
    return block;
  }

  static Block* grow(DeviceState& state, const Request& request) {
    note_device_use();
    const auto [index, stream, pool, length, bytes] = request;
    const size_t whole = segment_bytes(length, state.total);
    if (!is_capturing(index)) collect_garbage(index, whole);
    std::string reason;
    Segment* segment = new_segment(index, stream, whole, length, &reason);
    // A capturing stream cannot be synchronized.
    if (segment == nullptr && !is_capturing(index)) {
      release_unused(index);
      {
        const std::lock_guard<SpinLock> guard(state.lock);
        ++state.retries;
      }
      // The streams that used waiting blocks have been synchronized, so those blocks are free now.
      if (Block* block = search(state, request)) return block;
      segment = new_segment(index, stream, whole, length, &reason);
    }
    // A small device may have memory for the requested size only, not for a whole segment.
    if (segment == nullptr && length < whole)
      segment = new_segment(index, stream, length, length, &reason);
    if (segment == nullptr) fail_out_of_memory(index, stream, bytes, reason);
    const std::lock_guard<SpinLock> guard(state.lock);
    Block* const block = state.memory_of(pool).add(segment, length, static_cast<int16_t>(index),
                                                   stream, split_limits(device_unchecked(index)));
    count(state, block, bytes);
    return block;
  }

  template <typename F>
  static void each_tally(int index, F&& f) {
    device(index);
    DeviceState& state = state_of(index);
    const std::lock_guard<SpinLock> guard(state.lock);
    for (Tally* tally : {&state.allocated, &state.reserved, &state.requested, &state.allocations,
                         &state.segments, &state.waiting_blocks, &state.waiting_bytes}) {
      f(*tally);
    }
  }
};

}  // namespace

DeviceAllocator* device_allocator() {
  static DeviceAllocator* const allocator = [] {
    DeviceAllocator* const made = new Allocator;
    return checks_memory() ? checking_allocator(made) : made;
  }();
  return allocator;
}

}  // namespace dl::core
