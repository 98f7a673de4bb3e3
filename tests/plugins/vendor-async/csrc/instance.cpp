#include "instance.h"

#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "error.h"
#include "handle.h"
#include "ops/dtypes.h"

namespace dl::async_test {
namespace {

/** The thread's current device: none at first, which detects a host that does not set it. The
 * instance is known by its number, because a later one may have the same address. */
thread_local uint64_t current_owner = 0;
thread_local int32_t current_index = -1;

}  // namespace

Instance::Instance(const Options& options) : options_(options), host_memory_(options.pinned_bytes) {
  static std::atomic<uint64_t> instances{0};
  number_ = ++instances;
  set_lie(options.lie);
  for (int32_t index = 0; index < options.devices; ++index) {
    devices_.push_back(std::make_unique<Device>(index, number_, options));
  }
}

Instance::~Instance() {
  // A stream may wait for a rank of another instance, which does not know that this one ends.
  communicators_.abort_all();
  // All devices first: a stream may wait for an event of another device.
  for (const auto& device : devices_) device->cancel();
}

void Instance::device_set(int32_t index) {
  if (options_.forgets) return;
  current_owner = number_;
  current_index = index;
}

Device& Instance::device(int32_t index) {
  Device& found = any_device(index);
  if (current_owner != number_ || current_index != index) {
    throw Error(DL_INVALID_ARGUMENT, "device " + std::to_string(index) +
                                         " is not the thread's current one; call device_set first");
  }
  return found;
}

Device& Instance::any_device(int32_t index) {
  if (index < 0 || index >= device_count())
    throw Error(DL_INVALID_ARGUMENT, "there is no device " + std::to_string(index));
  return *devices_[static_cast<size_t>(index)];
}

dl_device_properties_t Instance::device_properties(int32_t index) {
  dl_device_properties_t all = {};
  std::strcpy(all.name, "asynchronous test device");
  all.total_memory = device(index).memory().total_bytes();
  all.major = 1;
  all.multiprocessor_count = 1;
  all.warp_size = 1;
  all.dtype_mask = numeric_dtype_mask();
  std::strcpy(all.architecture, "host-threads");
  all.allocation_padding = options_.padding;
  return all;
}

kit::MemoryInfo Instance::memory_info(int32_t index) {
  const DeviceMemory& memory = device(index).memory();
  return {memory.free_bytes(), memory.total_bytes()};
}

void Instance::stream_synchronize(int32_t index, void* stream) {
  device(index).stream(stream)->synchronize();
  device(index).group().report();
}

void Instance::stream_wait_event(int32_t index, void* stream, void* handle) {
  const auto waiting = device(index).stream(stream);
  // An event that was never recorded counts as finished.
  if (auto completion = event(handle)->latest) waiting->wait_for(std::move(completion));
}

void* Instance::event_create(int32_t index, uint64_t flags) {
  auto made = std::make_shared<Event>();
  made->device = device(index).index();
  made->timing = (flags & DL_EVENT_TIMING) != 0;
  void* handle = next_handle();
  const std::lock_guard lock(events_mutex_);
  events_[handle] = std::move(made);
  return handle;
}

void Instance::event_destroy(int32_t index, void* handle) {
  event(index, handle);
  const std::lock_guard lock(events_mutex_);
  events_.erase(handle);
}

void Instance::event_record(int32_t index, void* handle, void* stream) {
  event(index, handle)->latest = device(index).stream(stream)->record();
}

void Instance::event_synchronize(int32_t index, void* handle) {
  if (const auto completion = event(index, handle)->latest) {
    completion->check_runs();
    completion->wait();
  }
  device(index).group().report();
}

bool Instance::event_query(int32_t index, void* handle) {
  const auto completion = event(index, handle)->latest;
  if (completion == nullptr) return true;
  completion->check_runs();
  return completion->finished();
}

double Instance::event_elapsed(int32_t index, void* start, void* end) {
  return elapsed_milliseconds(*event(index, start), *event(index, end));
}

std::shared_ptr<Event> Instance::event(int32_t index, void* handle) {
  auto found = event(handle);
  if (found->device != device(index).index()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the event belongs to device " + std::to_string(found->device) + ", not " +
                    std::to_string(index) + "; pass the device it was created for");
  }
  return found;
}

std::shared_ptr<Event> Instance::event(void* handle) {
  const std::lock_guard lock(events_mutex_);
  const auto found = events_.find(handle);
  if (found == events_.end()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the handle " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
                    " is not an event; pass what event_create returned and was not destroyed");
  }
  return found->second;
}

}  // namespace dl::async_test
