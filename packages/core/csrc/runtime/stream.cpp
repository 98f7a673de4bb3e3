#include "runtime/stream.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/device.h"
#include "runtime/device_error.h"
#include "runtime/host.h"

namespace dl::core {
namespace {

constexpr int kPoolSize = 32;
constexpr int kHighPriority = -1;

// Handles never move: readers index without a lock, up to `count`.
struct DeviceStreams {
  std::mutex mutex;
  std::atomic<int64_t> count{1};
  std::array<void*, 4096> handles{};
  std::array<std::vector<int64_t>, 2> pools;
  std::array<size_t, 2> next{};
};

DeviceStreams& streams(int device) {
  static auto* all = new std::array<DeviceStreams, kMaxDevices>;
  return (*all)[device];
}

thread_local std::array<int64_t, kMaxDevices> current_ids{};

// Whether a stream other than a default one was ever current, on any thread. Until then no call
// looks for its thread's streams.
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
  TORCH_CHECK(id < static_cast<int64_t>(state.handles.size()), "[dl] ", id,
              " streams were created on dl:", index,
              "; reuse streams instead of creating one per task");
  const Device& owner = device(index);
  // A vendor without streams does everything in order on its default stream: any stream will do.
  if (owner.vendor->slots().stream_create != nullptr) {
    owner.vendor->call(&dl_vendor_table_t::stream_create, "stream_create", owner.local, priority,
                       &state.handles[id]);
  }
  state.count.store(id + 1, std::memory_order_release);
  return id;
}

}  // namespace

c10::Stream default_stream(int device) { return make(device, 0); }

c10::Stream current_stream(int device) { return make(device, current_id(device)); }

c10::Stream exchange_stream(c10::Stream stream) {
  const int index = stream.device_index();
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
  DeviceStreams& state = streams(index);
  const std::lock_guard<std::mutex> guard(state.mutex);
  return make(index, create_locked(state, index, priority));
}

c10::Stream pooled_stream(int index, bool high_priority) {
  check_not_forked();
  note_device_use();
  device(index);
  DeviceStreams& state = streams(index);
  const std::lock_guard<std::mutex> guard(state.mutex);
  auto& pool = state.pools[high_priority];
  const size_t slot = state.next[high_priority]++ % kPoolSize;
  if (slot >= pool.size())
    pool.push_back(create_locked(state, index, high_priority ? kHighPriority : 0));
  return make(index, pool[slot]);
}

void* native_stream(c10::Stream stream) {
  const DeviceStreams& state = streams(stream.device_index());
  TORCH_CHECK(stream.id() >= 0 && stream.id() < state.count.load(std::memory_order_acquire),
              "[dl] stream ", stream.id(), " of dl:", static_cast<int>(stream.device_index()),
              " does not exist");
  return state.handles[stream.id()];
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
    // More than was asked for, but no less.
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
