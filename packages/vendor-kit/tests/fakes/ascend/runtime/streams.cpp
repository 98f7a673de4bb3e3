// Streams and events: a stream is a thread, an event a point in its queue.
#include <chrono>
#include <memory>
#include <utility>

#include "captures.h"
#include "fake_acl.h"

using namespace fake;

namespace {

// Waits for all streams of the current device and returns the first failure of their work.
Code wait_for_all() {
  std::vector<StreamObject*> all;
  {
    Device& device = here();
    const std::lock_guard<std::mutex> lock(device.mutex);
    for (const auto& stream : device.streams) all.push_back(stream.get());
  }
  Code first = kSuccess;
  for (StreamObject* stream : all) {
    stream->synchronize();
    const Code failed = take_failure(*stream);
    if (first == kSuccess) first = failed;
  }
  return first;
}

Code refuse_unrecorded() { return note(kInvalidParameter, "the event was never recorded"); }
Code refuse_captured() { return note(kEventCaptured, "the event was recorded in a capture"); }

}  // namespace

namespace fake {

StreamObject* find(Stream stream) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  if (stream == nullptr) return device.streams[0].get();
  for (const auto& known : device.streams) {
    if (known.get() == stream && !known->destroyed) return known.get();
  }
  note(kWrongContext, "the stream does not belong to the current device");
  return nullptr;
}

EventObject* find(Event event) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (const auto& known : device.events) {
    if (known.get() == event) return known.get();
  }
  note(kInvalidParameter, "the event does not belong to the current device");
  return nullptr;
}

void push(StreamObject& stream, Work work) {
  if (add_node(stream, work)) return;
  stream.push([&stream, work = std::move(work)] {
    int none = 0;
    if (const int failed = work()) stream.failure.compare_exchange_strong(none, failed);
  });
}

Code take_failure(StreamObject& stream) {
  const Code failed = stream.failure.exchange(0);
  return failed == kSuccess ? failed : note(failed, "work on the device has failed");
}

}  // namespace fake

FAKE Code aclrtSynchronizeDevice() {
  ENTER_DEVICE(aclrtSynchronizeDevice);
  if (const Code failed = needs_running_device()) return failed;
  return wait_for_all();
}

FAKE Code aclrtCreateStreamWithConfig(Stream* out, uint32_t, uint32_t flags) {
  ENTER_DEVICE(aclrtCreateStreamWithConfig);
  if ((flags & ~(kFastLaunch | kFastSync)) != 0)
    return note(kInvalidParameter, "unknown flags of a stream");
  auto made = std::make_unique<StreamObject>(current);
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().streams.push_back(std::move(made));
  return kSuccess;
}
// The thread is kept, so that use of a stale handle is detected.
FAKE Code aclrtDestroyStream(Stream handle) {
  ENTER_DEVICE(aclrtDestroyStream);
  if (handle == nullptr) return note(kInvalidParameter, "the default stream cannot be destroyed");
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (!stream->is_finished()) return note(kInvalidParameter, "the stream has unfinished work");
  leave_capture(*stream);
  const std::lock_guard<std::mutex> lock(here().mutex);
  stream->destroyed = true;
  return kSuccess;
}
FAKE Code aclrtSynchronizeStream(Stream handle) {
  ENTER_DEVICE(aclrtSynchronizeStream);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (const Code failed = needs_running(*stream)) return failed;
  stream->synchronize();
  return take_failure(*stream);
}
FAKE Code aclrtStreamQuery(Stream handle, int* status) {
  ENTER_DEVICE(aclrtStreamQuery);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (const Code failed = needs_running(*stream)) return failed;
  *status = stream->is_finished() ? kStreamComplete : kStreamNotReady;
  return kSuccess;
}
// The event may belong to another device: such waits exist for that case.
FAKE Code aclrtStreamWaitEvent(Stream handle, Event event) {
  ENTER_DEVICE(aclrtStreamWaitEvent);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kWrongContext;
  if (event == nullptr || (event->flags & kEventSync) == 0)
    return note(kInvalidParameter, "streams wait only for events with ACL_EVENT_SYNC");
  Code result = kSuccess;
  if (wait_in_capture(*stream, *event, &result)) return result;
  if (event->latest == nullptr) return refuse_unrecorded();
  stream->push([point = event->latest] { point->wait(); });
  return kSuccess;
}

#ifndef OLD
FAKE Code aclrtCreateEventExWithFlag(Event* out, uint32_t flags) {
  ENTER_DEVICE(aclrtCreateEventExWithFlag);
  if (flags == 0 || (flags & ~(kEventSync | kEventTimeLine)) != 0)
    return note(kInvalidParameter, "unknown flags of an event");
  auto made = std::make_unique<EventObject>(EventObject{current, flags, nullptr, nullptr});
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().events.push_back(std::move(made));
  return kSuccess;
}
#endif
FAKE Code aclrtDestroyEvent(Event handle) {
  ENTER_DEVICE(aclrtDestroyEvent);
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (auto at = device.events.begin(); at != device.events.end(); ++at) {
    if (at->get() != handle) continue;
    device.events.erase(at);
    return kSuccess;
  }
  return note(kInvalidParameter, "not an event of the current device");
}
FAKE Code aclrtRecordEvent(Event handle, Stream to) {
  ENTER_DEVICE(aclrtRecordEvent);
  StreamObject* stream = find(to);
  EventObject* event = find(handle);
  if (stream == nullptr || event == nullptr) return kWrongContext;
  if (record_in_capture(*stream, *event)) return kSuccess;
  auto point = std::make_shared<fake_driver::Point>();
  event->latest = point;
  stream->mark(point);
  return kSuccess;
}
FAKE Code aclrtSynchronizeEvent(Event handle) {
  ENTER_DEVICE(aclrtSynchronizeEvent);
  EventObject* event = find(handle);
  if (event == nullptr) return kInvalidParameter;
  if (event->capture != nullptr) return refuse_captured();
  if (event->latest == nullptr) return refuse_unrecorded();
  event->latest->wait();
  return kSuccess;
}
FAKE Code aclrtQueryEventStatus(Event handle, int* status) {
  ENTER_DEVICE(aclrtQueryEventStatus);
  EventObject* event = find(handle);
  if (event == nullptr) return kInvalidParameter;
  if (event->capture != nullptr) return refuse_captured();
  if (event->latest == nullptr) return refuse_unrecorded();
  *status = event->latest->is_finished() ? kEventComplete : kEventNotReady;
  return kSuccess;
}
FAKE Code aclrtEventElapsedTime(float* milliseconds, Event from, Event to) {
  ENTER_DEVICE(aclrtEventElapsedTime);
  EventObject *start = find(from), *end = find(to);
  if (start == nullptr || end == nullptr) return kInvalidParameter;
  if (((start->flags & end->flags) & kEventTimeLine) == 0)
    return note(kInvalidParameter, "events without ACL_EVENT_TIME_LINE have no time");
  if (start->capture != nullptr || end->capture != nullptr) return refuse_captured();
  if (start->latest == nullptr || end->latest == nullptr) return refuse_unrecorded();
  if (!start->latest->is_finished() || !end->latest->is_finished())
    return note(kEventNotComplete, "an event has not finished");
  const auto passed = end->latest->time() - start->latest->time();
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return kSuccess;
}

FAKE int32_t fakeAclStreamDevice(void* stream) {
  if (stream == nullptr) return current;
  for (int i = 0; i < kMaxDevices; ++i) {
    const std::lock_guard<std::mutex> lock(device_of(i).mutex);
    for (const auto& known : device_of(i).streams) {
      if (known.get() == stream && !known->destroyed) return i;
    }
  }
  return -1;
}
FAKE int fakeAclEnqueue(void* handle, int (*work)(void*), void* argument, void (*release)(void*)) {
  const std::shared_ptr<void> owned(argument, release);
  if (current < 0) return note(kNoContext, "no device is current");
  StreamObject* stream = find(static_cast<Stream>(handle));
  if (stream == nullptr) return kWrongContext;
  push(*stream, [owned, work] { return work(owned.get()); });
  return kSuccess;
}
