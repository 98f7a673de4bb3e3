// Streams and events: a stream is a thread, an event a point in its queue.
#include <chrono>
#include <memory>
#include <utility>

#include "captures.h"
#include "fake_hip.h"

using namespace fake;

namespace fake {

StreamObject* find(Stream stream) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  if (stream == nullptr) return device.streams[0].get();
  for (const auto& known : device.streams) {
    if (known.get() == stream && !known->destroyed) return known.get();
  }
  return nullptr;
}

EventObject* find(Event event) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (const auto& known : device.events) {
    if (known.get() == event) return known.get();
  }
  return nullptr;
}

void push(StreamObject& stream, std::function<void()> work) {
  if (add_node(stream, work)) return;
  stream.push([&stream, work = std::move(work)] {
    const unsigned open = device_of(stream.device).peers | 1u << stream.device;
    for (int i = 0; i < kMaxDevices; ++i) {
      if ((open >> i & 1) != 0) device_of(i).memory.open();
    }
    work();
    for (int i = 0; i < kMaxDevices; ++i) {
      if ((open >> i & 1) != 0) device_of(i).memory.close();
    }
  });
}

void wait_for_all() {
  std::vector<StreamObject*> all;
  {
    Device& device = here();
    const std::lock_guard<std::mutex> lock(device.mutex);
    for (const auto& stream : device.streams) all.push_back(stream.get());
  }
  for (StreamObject* stream : all) stream->synchronize();
}

}  // namespace fake

FAKE Code hipDeviceSynchronize() {
  ENTER_AND_WAIT(hipDeviceSynchronize);
  if (const Code failed = needs_running_device()) return failed;
  wait_for_all();
  return kSuccess;
}

FAKE Code hipStreamCreateWithPriority(Stream* out, unsigned, int) {
  ENTER(hipStreamCreateWithPriority);
  auto made = std::make_unique<StreamObject>(current);
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().streams.push_back(std::move(made));
  return kSuccess;
}
// The thread is kept, so that use of a stale handle is detected.
FAKE Code hipStreamDestroy(Stream handle) {
  ENTER(hipStreamDestroy);
  StreamObject* stream = handle == nullptr ? nullptr : find(handle);
  if (stream == nullptr) return kInvalidHandle;
  leave_capture(*stream);
  const std::lock_guard<std::mutex> lock(here().mutex);
  stream->destroyed = true;
  return kSuccess;
}
FAKE Code hipStreamSynchronize(Stream handle) {
  ENTER_AND_WAIT(hipStreamSynchronize);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (const Code failed = needs_running(*stream)) return failed;
  stream->synchronize();
  return kSuccess;
}
FAKE Code hipStreamQuery(Stream handle) {
  ENTER(hipStreamQuery);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (const Code failed = needs_running(*stream)) return failed;
  return stream->is_finished() ? kSuccess : kNotReady;
}
// The event may belong to another device: such waits exist for that case.
FAKE Code hipStreamWaitEvent(Stream handle, Event event, unsigned flags) {
  ENTER(hipStreamWaitEvent);
  StreamObject* stream = find(handle);
  if (stream == nullptr || event == nullptr) return kInvalidHandle;
  if (flags != 0) return kInvalidValue;
  Code result = kSuccess;
  if (wait_in_capture(*stream, *event, &result)) return result;
  if (auto point = event->latest) stream->push([point] { point->wait(); });
  return kSuccess;
}

FAKE Code hipEventCreateWithFlags(Event* out, unsigned flags) {
  constexpr unsigned kDisableTiming = 2;
  ENTER(hipEventCreateWithFlags);
  if ((flags & ~kDisableTiming) != 0) return kInvalidValue;
  auto made = std::make_unique<EventObject>(EventObject{current, flags == 0, nullptr, nullptr});
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().events.push_back(std::move(made));
  return kSuccess;
}
FAKE Code hipEventDestroy(Event handle) {
  ENTER(hipEventDestroy);
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (auto at = device.events.begin(); at != device.events.end(); ++at) {
    if (at->get() != handle) continue;
    device.events.erase(at);
    return kSuccess;
  }
  return kInvalidHandle;
}
FAKE Code hipEventRecord(Event handle, Stream to) {
  ENTER(hipEventRecord);
  StreamObject* stream = find(to);
  EventObject* event = find(handle);
  if (stream == nullptr || event == nullptr) return kInvalidHandle;
  if (record_in_capture(*stream, *event)) return kSuccess;
  auto point = std::make_shared<fake_driver::Point>();
  event->latest = point;
  stream->mark(point);
  return kSuccess;
}
FAKE Code hipEventSynchronize(Event handle) {
  ENTER_AND_WAIT(hipEventSynchronize);
  EventObject* event = find(handle);
  if (event == nullptr) return kInvalidHandle;
  if (event->capture != nullptr) return kCapturedEvent;
  if (auto point = event->latest) point->wait();
  return kSuccess;
}
FAKE Code hipEventQuery(Event handle) {
  ENTER(hipEventQuery);
  EventObject* event = find(handle);
  if (event == nullptr) return kInvalidHandle;
  if (event->capture != nullptr) return kCapturedEvent;
  return event->latest == nullptr || event->latest->is_finished() ? kSuccess : kNotReady;
}
FAKE Code hipEventElapsedTime(float* milliseconds, Event from, Event to) {
  ENTER(hipEventElapsedTime);
  EventObject *start = find(from), *end = find(to);
  if (start == nullptr || end == nullptr || !start->timing || !end->timing) return kInvalidHandle;
  if (start->capture != nullptr || end->capture != nullptr) return kCapturedEvent;
  if (start->latest == nullptr || end->latest == nullptr) return kInvalidHandle;
  if (!start->latest->is_finished() || !end->latest->is_finished()) return kNotReady;
  const auto passed = end->latest->time() - start->latest->time();
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return kSuccess;
}
