#include "runtime/queue.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/errors.h"

namespace dl::opencl {

bool EventReference::finished() const {
  cl::Int status = 0;
  check(driver_->GetEventInfo(object_, cl::kEventStatus, sizeof status, &status, nullptr),
        "clGetEventInfo", "the state of an event was not read");
  if (status < 0) check(status, "clGetEventInfo", "work on the device failed");
  return status == cl::kComplete;
}

void EventReference::wait() const {
  check(driver_->WaitForEvents(1, &object_), "clWaitForEvents", "work on the device failed");
}

Queue::Queue(Device& device, cl::Context context, int priority)
    : device_(device), driver_(device.driver()) {
  std::vector<cl::Bits> properties = {cl::kQueueProperties, cl::kProfilingEnabled};
  if (priority < 0 &&
      device.facts().extensions.find("cl_khr_priority_hints") != std::string::npos) {
    properties.push_back(cl::kQueuePriority);
    properties.push_back(cl::kPriorityHigh);
  }
  properties.push_back(0);
  cl::Int code = cl::kSuccess;
  handle_ =
      driver_.CreateCommandQueueWithProperties(context, device.id(), properties.data(), &code);
  check(code, "clCreateCommandQueueWithProperties", "a queue was not created");
  device_.add(this);
}

Queue::~Queue() {
  device_.remove(this);
  // Not Flush, which the specification asks for: Intel's runtime (2025) crashes at times if a queue
  // is released whose work has not finished.
  (void)driver_.Finish(handle_);
  (void)driver_.ReleaseCommandQueue(handle_);
}

Queue& Queue::of(void* stream) {
  return stream == nullptr ? Devices::here().current().default_queue()
                           : *static_cast<Queue*>(stream);
}

void Queue::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  enqueue([&](cl::CommandQueue handle) { device_.memory().copy(handle, to, from, bytes); });
}

void Queue::fill(void* to, unsigned char value, size_t bytes) {
  if (bytes == 0) return;
  enqueue([&](cl::CommandQueue handle) { device_.memory().fill(handle, to, value, bytes); });
}

void Queue::synchronize() {
  uint64_t before = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    before = submitted_;
  }
  // Not locked while it waits: other threads may enqueue more.
  check(driver_.Finish(handle_), "clFinish", "work on the device failed");
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_ = std::max(finished_, before);
}

bool Queue::finished() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (finished_ == submitted_) return true;
  // A marker after the last command; a new one for each query would never be seen to finish.
  if (!marker_ || marked_ != submitted_) {
    marker_ = mark_locked();
    marked_ = submitted_;
  }
  if (!marker_.finished()) return false;
  finished_ = submitted_;
  return true;
}

EventReference Queue::mark() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return mark_locked();
}

EventReference Queue::mark_locked() {
  cl::EventObject made = nullptr;
  check(driver_.EnqueueMarkerWithWaitList(handle_, 0, nullptr, &made),
        "clEnqueueMarkerWithWaitList", "an event was not recorded");
  EventReference marker(driver_, made);
  // Otherwise another queue, or a thread that polls, might wait forever.
  check(driver_.Flush(handle_), "clFlush", "work was not submitted");
  return marker;
}

void Queue::wait_for(const EventReference& event, const Device& of) {
  // Events of another device belong to another context, which a queue cannot wait for.
  if (&of != &device_) {
    event.wait();
    return;
  }
  enqueue([&](cl::CommandQueue handle) {
    check(driver_.EnqueueBarrierWithWaitList(handle, 1, &event.object(), nullptr),
          "clEnqueueBarrierWithWaitList", "a stream cannot wait for an event");
  });
}

EventReference Event::recorded(Device** device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (device != nullptr) *device = device_;
  return marker_;
}

void Event::record(Queue& queue) {
  EventReference marker = queue.mark();
  const std::lock_guard<std::mutex> lock(mutex_);
  marker_ = std::move(marker);
  device_ = &queue.device();
}

bool Event::finished() {
  const EventReference marker = recorded();
  return !marker || marker.finished();
}

void Event::synchronize() {
  if (const EventReference marker = recorded()) marker.wait();
}

void Event::make_wait(Queue& queue) {
  Device* device = nullptr;
  if (const EventReference marker = recorded(&device)) queue.wait_for(marker, *device);
}

uint64_t Event::timestamp() {
  const EventReference marker = recorded();
  if (!marker) throw kit::Error(DL_INVALID_ARGUMENT, "an event was not recorded");
  if (!marker.finished())
    throw kit::Error(DL_NOT_READY, "an event has not finished; synchronize it first");
  uint64_t nanoseconds = 0;
  check(marker.driver().GetEventProfilingInfo(marker.object(), cl::kProfilingEnd,
                                              sizeof nanoseconds, &nanoseconds, nullptr),
        "clGetEventProfilingInfo", "the time of an event was not read");
  return nanoseconds;
}

double Event::elapsed(Event& start, Event& end) {
  const uint64_t begun = start.timestamp(), ended = end.timestamp();
  return (static_cast<double>(ended) - static_cast<double>(begun)) * 1e-6;
}

}  // namespace dl::opencl
