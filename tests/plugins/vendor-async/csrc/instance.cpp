#include "instance.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "error.h"
#include "handle.h"

namespace dl::async_test {

Instance::Instance(const dl_vendor_table_t* table_of_library, const Options& options)
    : dl_vendor{table_of_library}, options_(options) {
  for (int32_t index = 0; index < options.devices; ++index) {
    devices_.push_back(std::make_unique<Device>(index, options));
  }
}

Instance::~Instance() {
  // All devices first: a stream may wait for an event of another device.
  for (const auto& device : devices_) device->cancel();
}

void Instance::enter() {
  pid_t nobody = 0;
  user_.compare_exchange_strong(nobody, getpid());
  if (inherited_by_fork()) {
    throw Error(DL_UNAVAILABLE, "process " + std::to_string(getpid()) + " was forked from " +
                                    std::to_string(user_.load()) +
                                    " after that had used the device; start it with the 'spawn' or "
                                    "'forkserver' method instead");
  }
}

bool Instance::inherited_by_fork() const {
  const pid_t user = user_.load();
  return user != 0 && user != getpid();
}

Device& Instance::device(int32_t index) {
  if (index < 0 || index >= device_count()) {
    throw Error(DL_INVALID_ARGUMENT,
                "device " + std::to_string(index) + " does not exist: there are " +
                    std::to_string(device_count()) + "; DL_ASYNC_TEST_DEVICES sets how many");
  }
  return *devices_[static_cast<size_t>(index)];
}

void* Instance::create_event(int32_t device, bool timing) {
  auto event = std::make_shared<Event>();
  event->device = device;
  event->timing = timing;
  void* handle = next_handle();
  const std::lock_guard lock(events_mutex_);
  events_[handle] = std::move(event);
  return handle;
}

void Instance::destroy_event(int32_t device, void* handle) {
  event(device, handle);
  const std::lock_guard lock(events_mutex_);
  events_.erase(handle);
}

std::shared_ptr<Event> Instance::event(int32_t device, void* handle) {
  auto found = event(handle);
  if (found->device != device) {
    throw Error(DL_INVALID_ARGUMENT,
                "the event belongs to device " + std::to_string(found->device) + ", not " +
                    std::to_string(device) + "; pass the device it was created for");
  }
  return found;
}

std::shared_ptr<Event> Instance::event(void* handle) {
  const std::lock_guard lock(events_mutex_);
  const auto found = events_.find(handle);
  if (found == events_.end()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the handle " + std::to_string(reinterpret_cast<uintptr_t>(handle)) +
                    " is no event; pass what event_create returned and was not destroyed");
  }
  return found->second;
}

}  // namespace dl::async_test
