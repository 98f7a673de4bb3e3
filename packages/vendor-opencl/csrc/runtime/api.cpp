#include "runtime/api.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dl::opencl {

const char* Api::message(Result result) {
  thread_local std::string words;
  words = result == cl::kDeviceNotFound ? Devices::here().reason() : text_of(result);
  return words.c_str();
}

Api::Result Api::device_count(int* count) {
  *count = Devices::here().count();
  return *count == 0 ? cl::kDeviceNotFound : cl::kSuccess;
}

Api::Result Api::get_device(int* index) {
  *index = Devices::here().current_index();
  return cl::kSuccess;
}

Api::Result Api::set_device(int index) {
  Devices::here().set_current(index);
  return cl::kSuccess;
}

Api::Result Api::device_synchronize() {
  Devices::here().current().synchronize();
  return cl::kSuccess;
}

Api::Result Api::properties(int index, dl_device_properties_t* all) {
  const DeviceFacts& facts = Devices::here().at(index).facts();
  std::snprintf(all->name, sizeof all->name, "%s", facts.name.c_str());
  // "OpenCL 3.0 (Build 0)".
  (void)std::sscanf(facts.version.c_str(), "OpenCL %d.%d", &all->major, &all->minor);
  std::snprintf(all->architecture, sizeof all->architecture, "%s", facts.platform.c_str());
  all->total_memory = facts.memory;
  all->multiprocessor_count = static_cast<int32_t>(facts.compute_units);
  all->warp_size = facts.sub_groups ? DL_OPENCL_WARP_THREADS : 1;
  for (const diopiDtype_t dtype :
       {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
        diopi_dtype_float32, diopi_dtype_float64}) {
    all->dtype_mask |= uint64_t{1} << static_cast<unsigned>(dtype);
  }
  return cl::kSuccess;
}

Api::Result Api::malloc(void** memory, size_t bytes) {
  *memory = Devices::here().current().allocate(bytes);
  return cl::kSuccess;
}

Api::Result Api::free(void* memory) {
  Devices::here().current().release(memory);
  return cl::kSuccess;
}

// OpenCL does not report free memory: what other processes use counts as free.
Api::Result Api::memory_info(size_t* free_bytes, size_t* total) {
  const Device& device = Devices::here().current();
  *total = device.facts().memory;
  *free_bytes = *total - std::min<uint64_t>(device.allocated(), *total);
  return cl::kSuccess;
}

Api::Result Api::malloc_host(void** memory, size_t bytes) {
  constexpr size_t kAlignment = 64;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? cl::kOutOfHostMemory : cl::kSuccess;
}

Api::Result Api::free_host(void* memory) {
  std::free(memory);
  return cl::kSuccess;
}

Api::Result Api::copy(void* to, const void* from, size_t bytes, int, Stream stream) {
  Queue::of(stream).copy(to, from, bytes);
  return cl::kSuccess;
}

Api::Result Api::set(void* memory, int value, size_t bytes, Stream stream) {
  Queue::of(stream).fill(memory, static_cast<unsigned char>(value), bytes);
  return cl::kSuccess;
}

Api::Result Api::stream_create(Stream* stream, int priority) {
  Device& device = Devices::here().current();
  *stream = new Queue(device, device.context(), priority);
  return cl::kSuccess;
}

Api::Result Api::stream_destroy(Stream stream) {
  delete stream;
  return cl::kSuccess;
}

Api::Result Api::stream_synchronize(Stream stream) {
  Queue::of(stream).synchronize();
  return cl::kSuccess;
}

Api::Result Api::stream_query(Stream stream) {
  return Queue::of(stream).finished() ? cl::kSuccess : cl::kNotReady;
}

Api::Result Api::stream_wait_event(Stream stream, Event event) {
  event->make_wait(Queue::of(stream));
  return cl::kSuccess;
}

// Queues record the times of all events.
Api::Result Api::event_create(Event* event, bool) {
  *event = new opencl::Event;
  return cl::kSuccess;
}

Api::Result Api::event_destroy(Event event) {
  delete event;
  return cl::kSuccess;
}

Api::Result Api::event_record(Event event, Stream stream) {
  event->record(Queue::of(stream));
  return cl::kSuccess;
}

Api::Result Api::event_synchronize(Event event) {
  event->synchronize();
  return cl::kSuccess;
}

Api::Result Api::event_query(Event event) {
  return event->finished() ? cl::kSuccess : cl::kNotReady;
}

Api::Result Api::event_elapsed(float* milliseconds, Event start, Event end) {
  *milliseconds = static_cast<float>(opencl::Event::elapsed(*start, *end));
  return cl::kSuccess;
}

}  // namespace dl::opencl
