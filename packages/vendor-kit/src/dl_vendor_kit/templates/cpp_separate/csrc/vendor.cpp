#include "vendor.h"

#include <cstdio>
#include <memory>

namespace __chip__ {

namespace kit = dl::kit;

namespace {

struct ReleaseFence {
  void operator()(driver_fence_t* fence) const { driver_release_fence(fence); }
};
using Fence = std::unique_ptr<driver_fence_t, ReleaseFence>;

struct Event {
  Fence fence;  // null: never recorded
};

Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

}  // namespace

void Vendor::check(driver_result_t result, const char* operation) {
  if (result == DRIVER_OK) return;
  const dl_code_t code = result == DRIVER_OUT_OF_MEMORY ? DL_OUT_OF_MEMORY : DL_ERROR;
  throw kit::Error(code, driver_text(result), operation);
}

driver_queue_t* Vendor::queue_of(void* stream) {
  if (stream != nullptr) return static_cast<driver_queue_t*>(stream);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (default_queue_ == nullptr)
    check(driver_create_queue(0, &default_queue_), "driver_create_queue");
  return default_queue_;
}

Vendor::~Vendor() {
  if (default_queue_ != nullptr) driver_release_queue(default_queue_);
}

// Devices.

dl_device_properties_t Vendor::device_properties(int32_t device) {
  dl_device_properties_t properties{};
  std::snprintf(properties.name, sizeof properties.name, "__chip__ (stand-in)");
  properties.total_memory = memory_info(device).total;
  properties.dtype_mask = uint64_t{1} << diopi_dtype_float32;
  return properties;
}

void Vendor::device_synchronize(int32_t device) { check(driver_finish(device), "driver_finish"); }

// Memory.

void* Vendor::memory_allocate(int32_t device, uint64_t bytes) {
  void* memory = nullptr;
  check(driver_allocate(device, bytes, &memory), "driver_allocate");
  return memory;
}

void Vendor::memory_free(int32_t device, void* memory) {
  check(driver_free(device, memory), "driver_free");
}

kit::MemoryInfo Vendor::memory_info(int32_t device) {
  size_t free_bytes = 0, total_bytes = 0;
  check(driver_memory_info(device, &free_bytes, &total_bytes), "driver_memory_info");
  return {free_bytes, total_bytes};
}

// The host may reuse or read its side of a copy when this returns. A driver that has page-locked
// memory can return earlier for it: add the methods host_allocate and host_free.
void Vendor::memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                         void* stream) {
  if (bytes == 0) return;
  check(driver_enqueue_copy(queue_of(stream), to, from, bytes), "driver_enqueue_copy");
  if (kind != DL_COPY_DEVICE_TO_DEVICE) stream_synchronize(device, stream);
}

void Vendor::memory_set(int32_t, void* memory, int32_t value, uint64_t bytes, void* stream) {
  check(driver_enqueue_fill(queue_of(stream), memory, value, bytes), "driver_enqueue_fill");
}

// Streams. This driver has no priorities.

void* Vendor::stream_create(int32_t device, int32_t) {
  driver_queue_t* queue = nullptr;
  check(driver_create_queue(device, &queue), "driver_create_queue");
  return queue;
}

void Vendor::stream_destroy(int32_t, void* stream) {
  driver_release_queue(static_cast<driver_queue_t*>(stream));
}

void Vendor::stream_synchronize(int32_t, void* stream) {
  driver_fence_t* fence = nullptr;
  check(driver_enqueue_fence(queue_of(stream), &fence), "driver_enqueue_fence");
  driver_wait(fence);
  driver_release_fence(fence);
}

bool Vendor::stream_query(int32_t, void* stream) { return driver_is_idle(queue_of(stream)); }

void Vendor::stream_wait_event(int32_t, void* stream, void* event) {
  const Fence& fence = event_of(event).fence;
  if (fence != nullptr)
    check(driver_enqueue_wait(queue_of(stream), fence.get()), "driver_enqueue_wait");
}

// Events. Fences of this driver always have a time, so that DL_EVENT_TIMING changes nothing.

void* Vendor::event_create(int32_t, uint64_t) { return new Event; }

void Vendor::event_destroy(int32_t, void* event) { delete static_cast<Event*>(event); }

// Waits that were enqueued before still wait for the fence that they got.
void Vendor::event_record(int32_t, void* event, void* stream) {
  driver_fence_t* fence = nullptr;
  check(driver_enqueue_fence(queue_of(stream), &fence), "driver_enqueue_fence");
  event_of(event).fence.reset(fence);
}

void Vendor::event_synchronize(int32_t, void* event) {
  const Fence& fence = event_of(event).fence;
  if (fence != nullptr) driver_wait(fence.get());
}

bool Vendor::event_query(int32_t, void* event) {
  const Fence& fence = event_of(event).fence;
  return fence == nullptr || driver_is_signaled(fence.get());
}

double Vendor::event_elapsed(int32_t, void* start, void* end) {
  const Fence &first = event_of(start).fence, &last = event_of(end).fence;
  if (first == nullptr || last == nullptr || !driver_is_signaled(first.get()) ||
      !driver_is_signaled(last.get()))
    throw kit::Error(DL_INVALID_ARGUMENT, "an event was not recorded or is not finished");
  return driver_milliseconds(last.get()) - driver_milliseconds(first.get());
}

}  // namespace __chip__

// The library's only exported symbol.
DL_KIT_VENDOR(__chip__::Vendor)
