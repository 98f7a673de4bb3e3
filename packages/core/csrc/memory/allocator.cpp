#include "memory/allocator.h"

#include <c10/util/SmallVector.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/out_of_memory.h"
#include "memory/sharing.h"
#include "memory/size_class.h"
#include "memory/spin_lock.h"
#include "memory/transfer.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;

struct Block {
  void* memory;
  size_t bytes;      // of the class
  size_t requested;  // of the current owner
  int device;
  int size_class;
  int64_t stream;  // the one that was current at allocation
  c10::SmallVector<c10::Stream, 2> other_streams;
};

struct Counter {
  c10::CachingAllocator::Stat stat;
  void write(c10::CachingAllocator::StatArray& array) const { array[0] = stat; }
};

struct Pool {
  std::vector<Block*> free[kSizeClasses];
};

// Memory of the host that a device took over.
struct Adopted {
  at::DataPtr memory;
  size_t bytes = 0;
  int device = 0;
};

struct DeviceState {
  SpinLock lock;
  Pool default_stream_pool;
  std::vector<Adopted*> unused_adopted;  // kept for the next ones
  std::unordered_map<int64_t, Pool> other_pools;
  Counter allocated, reserved, requested, allocations, segments;
  int64_t retries = 0, ooms = 0, vendor_allocations = 0, vendor_frees = 0;

  Pool& pool(int64_t stream) { return stream == 0 ? default_stream_pool : other_pools[stream]; }
};

DeviceState& state_of(int device) {
  static auto* states = new DeviceState[kMaxDevices];
  return states[device];
}

// Which memory belongs to which device; changed only when a vendor allocates or frees.
std::mutex segments_mutex;
std::map<uintptr_t, std::pair<size_t, int>>& segments() {
  static auto* map = new std::map<uintptr_t, std::pair<size_t, int>>;
  return *map;
}

// Makes the block's own stream wait for the other streams that used the block.
void join_other_streams(Block* block) noexcept {
  const Device& owner = device_unchecked(block->device);
  if (!owner.synchronous) {
    try {
      void* own = native_stream(
          c10::Stream(c10::Stream::UNSAFE, c10::Device(kDeviceType, block->device), block->stream));
      for (const c10::Stream& stream : block->other_streams) {
        void* event = nullptr;
        owner.vendor->call(&dl_vendor_table_t::event_create, "event_create", owner.local,
                           uint64_t{0}, &event);
        owner.vendor->call(&dl_vendor_table_t::event_record, "event_record", owner.local, event,
                           native_stream(stream));
        owner.vendor->call(&dl_vendor_table_t::stream_wait_event, "stream_wait_event", owner.local,
                           own, event);
        owner.vendor->call(&dl_vendor_table_t::event_destroy, "event_destroy", owner.local, event);
      }
    } catch (...) {
      // Without working events only a full wait keeps the memory safe.
      owner.vendor->call_noexcept(&dl_vendor_table_t::device_synchronize, "device_synchronize",
                                  owner.local);
    }
  }
  block->other_streams.clear();
}

void release_block(void* context) {
  auto* block = static_cast<Block*>(context);
  if (C10_UNLIKELY(in_bad_fork())) return;  // the parent's memory: leave it alone
  if (C10_UNLIKELY(!block->other_streams.empty())) join_other_streams(block);
  DeviceState& state = state_of(block->device);
  const std::lock_guard<SpinLock> guard(state.lock);
  state.allocated.stat.decrease(block->bytes);
  state.requested.stat.decrease(block->requested);
  state.allocations.stat.decrease(1);
  state.pool(block->stream).free[block->size_class].push_back(block);
}

void release_adopted(void* context) {
  auto* adopted = static_cast<Adopted*>(context);
  adopted->memory.clear();
  DeviceState& state = state_of(adopted->device);
  const std::lock_guard<SpinLock> guard(state.lock);
  state.allocated.stat.decrease(adopted->bytes);
  state.requested.stat.decrease(adopted->bytes);
  state.reserved.stat.decrease(adopted->bytes);
  state.allocations.stat.decrease(1);
  state.unused_adopted.push_back(adopted);
}

class Allocator final : public DeviceAllocator {
 public:
  at::DataPtr allocate(size_t bytes) override { return allocate_on(bytes, current_device()); }

  at::DataPtr allocate_on(size_t bytes, int index) override {
    const c10::Device where(kDeviceType, static_cast<c10::DeviceIndex>(index));
    if (bytes == 0) return {nullptr, where};
    check_not_forked();
    const Device& owner = device(index);
    const int size = size_class(bytes);
    const int64_t stream = current_stream(index).id();
    DeviceState& state = state_of(index);
    Block* block = take_cached(state, stream, size, bytes);
    if (C10_UNLIKELY(block == nullptr)) {
      block = take_new(state, owner, index, stream, size, bytes);
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
      state.allocated.stat.increase(bytes);
      state.requested.stat.increase(bytes);
      state.reserved.stat.increase(bytes);
      state.allocations.stat.increase(1);
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
    for (int index = 0; index < device_count(); ++index) empty_cache(index);
  }

  void recordStream(const at::DataPtr& data, c10::Stream stream) override {
    if (data.get() == nullptr) return;
    void* const context = data.get_deleter() == &release_block
                              ? data.get_context()
                              : context_behind(data.get(), &release_block);
    if (context == nullptr) return;
    auto* block = static_cast<Block*>(context);
    if (stream.id() == block->stream && stream.device_index() == block->device) return;
    DeviceState& state = state_of(block->device);
    const std::lock_guard<SpinLock> guard(state.lock);
    auto& streams = block->other_streams;
    if (std::find(streams.begin(), streams.end(), stream) == streams.end())
      streams.push_back(stream);
  }

  DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    device(index);
    DeviceState& state = state_of(index);
    const std::lock_guard<SpinLock> guard(state.lock);
    DeviceStats stats;
    state.allocated.write(stats.allocated_bytes);
    state.allocated.write(stats.active_bytes);
    state.reserved.write(stats.reserved_bytes);
    state.requested.write(stats.requested_bytes);
    state.allocations.write(stats.allocation);
    state.allocations.write(stats.active);
    state.segments.write(stats.segment);
    stats.num_alloc_retries = state.retries;
    stats.num_ooms = state.ooms;
    stats.num_device_alloc = state.vendor_allocations;
    stats.num_device_free = state.vendor_frees;
    return stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex index) override {
    each_counter(index, [](Counter& counter) { counter.stat.reset_accumulated(); });
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    each_counter(index, [](Counter& counter) { counter.stat.reset_peak(); });
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    const Device& owner = device(index);
    uint64_t free_bytes = 0, total_bytes = 0;
    owner.vendor->call(&dl_vendor_table_t::memory_info, "memory_info", owner.local, &free_bytes,
                       &total_bytes);
    return {free_bytes, total_bytes};
  }

 private:
  static Block* take_cached(DeviceState& state, int64_t stream, int size, size_t bytes) {
    const std::lock_guard<SpinLock> guard(state.lock);
    auto& list = state.pool(stream).free[size];
    if (list.empty()) return nullptr;
    Block* block = list.back();
    list.pop_back();
    count(state, block, bytes);
    return block;
  }

  static void count(DeviceState& state, Block* block, size_t bytes) {
    block->requested = bytes;
    state.allocated.stat.increase(block->bytes);
    state.requested.stat.increase(bytes);
    state.allocations.stat.increase(1);
  }

  Block* take_new(DeviceState& state, const Device& owner, int index, int64_t stream, int size,
                  size_t bytes) {
    note_device_use();
    const size_t rounded = class_bytes(size);
    void* memory = nullptr;
    try {
      memory = vendor_allocate(owner, rounded);
    } catch (const c10::OutOfMemoryError&) {
      empty_cache(index);
      const std::lock_guard<SpinLock> guard(state.lock);
      ++state.retries;
    }
    if (memory == nullptr) {
      try {
        memory = vendor_allocate(owner, rounded);
      } catch (const c10::OutOfMemoryError& error) {
        fail(state, owner, index, bytes, error.what_without_backtrace());
      }
    }
    auto* block = new Block{memory, rounded, bytes, index, size, stream, {}};
    {
      const std::lock_guard<std::mutex> guard(segments_mutex);
      segments()[reinterpret_cast<uintptr_t>(memory)] = {rounded, index};
    }
    const std::lock_guard<SpinLock> guard(state.lock);
    ++state.vendor_allocations;
    state.reserved.stat.increase(rounded);
    state.segments.stat.increase(1);
    count(state, block, bytes);
    return block;
  }

  static void* vendor_allocate(const Device& owner, size_t bytes) {
    void* memory = nullptr;
    owner.vendor->call(&dl_vendor_table_t::memory_allocate, "memory_allocate", owner.local,
                       static_cast<uint64_t>(bytes), &memory);
    return memory;
  }

  [[noreturn]] void fail(DeviceState& state, const Device& owner, int index, size_t bytes,
                         const char* reason) {
    int64_t allocated = 0, reserved = 0;
    {
      const std::lock_guard<SpinLock> guard(state.lock);
      ++state.ooms;
      allocated = state.allocated.stat.current;
      reserved = state.reserved.stat.current;
    }
    std::optional<std::pair<size_t, size_t>> free_and_total;
    if (owner.vendor->slots().memory_info != nullptr)
      free_and_total = getMemoryInfo(static_cast<c10::DeviceIndex>(index));
    throw_out_of_memory(bytes, index, owner.description(), free_and_total, allocated, reserved,
                        reason);
  }

  // Frees every cached block. The device is idle then, so nothing enqueued can still use one.
  static void empty_cache(int index) {
    synchronize_device(index);
    std::vector<Block*> blocks;
    DeviceState& state = state_of(index);
    {
      const std::lock_guard<SpinLock> guard(state.lock);
      const auto drain = [&](Pool& pool) {
        for (auto& list : pool.free) {
          blocks.insert(blocks.end(), list.begin(), list.end());
          list.clear();
        }
      };
      drain(state.default_stream_pool);
      for (auto& [stream, pool] : state.other_pools) drain(pool);
      for (const Block* block : blocks) {
        state.reserved.stat.decrease(block->bytes);
        state.segments.stat.decrease(1);
        ++state.vendor_frees;
      }
    }
    const Device& owner = device(index);
    for (Block* block : blocks) {
      {
        const std::lock_guard<std::mutex> guard(segments_mutex);
        segments().erase(reinterpret_cast<uintptr_t>(block->memory));
      }
      owner.vendor->call_noexcept(&dl_vendor_table_t::memory_free, "memory_free", owner.local,
                                  block->memory);
      delete block;
    }
  }

  template <typename F>
  static void each_counter(int index, F&& f) {
    device(index);
    DeviceState& state = state_of(index);
    const std::lock_guard<SpinLock> guard(state.lock);
    for (Counter* counter : {&state.allocated, &state.reserved, &state.requested,
                             &state.allocations, &state.segments}) {
      f(*counter);
    }
  }
};

}  // namespace

DeviceAllocator* device_allocator() {
  static auto* allocator = new Allocator;
  return allocator;
}

int device_of_pointer(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard<std::mutex> guard(segments_mutex);
  auto found = segments().upper_bound(address);
  if (found == segments().begin()) return -1;
  --found;
  return address < found->first + found->second.first ? found->second.second : -1;
}

}  // namespace dl::core
