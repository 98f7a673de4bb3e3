#include "runtime/stream.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "runtime/device.h"
#include "runtime/device_error.h"
#include "runtime/host.h"
#include "runtime/reserved_stream.h"

namespace dl::core {
namespace {

constexpr int kPoolSize = 32;  // as in CUDA: the 33rd request returns the first stream again
constexpr int kPools = 2 * kLargestPriority + 1;
constexpr int kMostReserved = 31;

// Handles are never moved, so readers index them without a lock, up to `count`.
struct DeviceStreams {
  struct Pool {
    std::array<int64_t, kPoolSize> ids{};
    size_t handed_out = 0;
  };

  std::mutex mutex;
  std::atomic<int64_t> count{1};
  static constexpr size_t kMost = 1 + kPools * kPoolSize + kMostReserved;
  std::array<void*, kMost> handles{};
  std::array<int, kMost> priorities{};
  std::array<Pool, kPools> pools;
  int reserved = 0;
};

DeviceStreams& streams(int device) {
  static auto* all = new std::array<DeviceStreams, kMaxDevices>;
  return (*all)[device];
}

thread_local std::array<int64_t, kMaxDevices> current_ids{};

// True once any thread has made a stream other than a default one current. Until then, calls need
// not look up the stream of their thread.
std::atomic<bool> streams_change{false};

int64_t current_id(int device) {
  return C10_LIKELY(!streams_change.load(std::memory_order_relaxed)) ? 0 : current_ids[device];
}

c10::Stream make(int device, int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE,
                     c10::Device(kDeviceType, static_cast<c10::DeviceIndex>(device)), id);
}

int64_t create_locked(DeviceStreams& state, int index, int priority) {
  const int64_t id = state.count.load();
  const Device& owner = device(index);
  // A vendor without streams executes everything in order, so every stream is its default stream.
  if (owner.vendor->slots().stream_create != nullptr) {
    owner.vendor->call(&dl_vendor_table_t::stream_create, "stream_create", owner.local, priority,
                       &state.handles[id]);
  }
  state.priorities[id] = priority;
  state.count.store(id + 1, std::memory_order_release);
  return id;
}

// Ids may come from programs: torch.Stream(stream_id=…, device_index=…, device_type=…).
void check_exists(c10::Stream stream) {
  const int index = stream.device_index();
  device(index);
  TORCH_CHECK(
      stream.id() >= 0 && stream.id() < streams(index).count.load(std::memory_order_acquire),
      "[dl] stream ", stream.id(), " of dl:", index,
      " does not exist; make one with torch.Stream(device=\"dl:", index, "\")");
}

}  // namespace

c10::Stream default_stream(int device) { return make(device, 0); }

c10::Stream current_stream(int device) { return make(device, current_id(device)); }

c10::Stream exchange_stream(c10::Stream stream) {
  const int index = stream.device_index();
  check_exists(stream);
  const c10::Stream previous = current_stream(index);
  if (stream.id() == previous.id()) return previous;
  streams_change.store(true, std::memory_order_relaxed);
  current_ids[index] = stream.id();
  return previous;
}

c10::Stream new_stream(int index, int priority) {
  check_not_forked();
  note_device_use();
  device(index);
  const int level = std::clamp(priority, -kLargestPriority, kLargestPriority);
  DeviceStreams& state = streams(index);
  const std::lock_guard<std::mutex> guard(state.mutex);
  DeviceStreams::Pool& pool = state.pools[level + kLargestPriority];
  int64_t& id = pool.ids[pool.handed_out % kPoolSize];
  if (pool.handed_out < kPoolSize) id = create_locked(state, index, level);
  ++pool.handed_out;
  return make(index, id);
}

c10::Stream pooled_stream(int index, bool high_priority) {
  return new_stream(index, high_priority ? -1 : 0);
}

int stream_priority(c10::Stream stream) {
  check_exists(stream);
  return streams(stream.device_index()).priorities[stream.id()];
}

c10::Stream reserved_stream(int index, int priority) {
  check_not_forked();
  note_device_use();
  device(index);
  DeviceStreams& state = streams(index);
  const std::lock_guard<std::mutex> guard(state.mutex);
  TORCH_INTERNAL_ASSERT(state.reserved < kMostReserved);
  const int64_t id = create_locked(state, index, priority);
  ++state.reserved;
  return make(index, id);
}

void* native_stream(c10::Stream stream) {
  check_exists(stream);
  return streams(stream.device_index()).handles[stream.id()];
}

void* current_native_stream(int device) {
  const int64_t id = current_id(device);
  return C10_LIKELY(id == 0) ? nullptr : streams(device).handles[id];
}

void synchronize_stream(c10::Stream stream) {
  const Device& owner = device(stream.device_index());
  if (owner.synchronous) return;
  check_not_forked();
  const ErrorMark mark(stream);
  if (owner.vendor->slots().stream_synchronize == nullptr) {
    // Waits for more work than necessary, but never for less.
    owner.vendor->call(&dl_vendor_table_t::device_synchronize, "device_synchronize", owner.local);
  } else {
    owner.vendor->call(&dl_vendor_table_t::stream_synchronize, "stream_synchronize", owner.local,
                       native_stream(stream));
  }
  mark.raise();
}

bool query_stream(c10::Stream stream) {
  const Device& owner = device(stream.device_index());
  if (owner.synchronous) return true;
  int32_t finished = 0;
  owner.vendor->call(&dl_vendor_table_t::stream_query, "stream_query", owner.local,
                     native_stream(stream), &finished);
  return finished != 0;
}

void synchronize_device(int index) {
  const Device& owner = device(index);
  if (owner.synchronous) return;
  check_not_forked();
  const ErrorMark mark(index);
  owner.vendor->call(&dl_vendor_table_t::device_synchronize, "device_synchronize", owner.local);
  mark.raise();
}

}  // namespace dl::core
