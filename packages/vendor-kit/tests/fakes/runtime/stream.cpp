// Streams, events and kernels of a simulated device.
#include <chrono>
#include <memory>
#include <vector>

#include "driver.h"

using namespace sim;

namespace {

thread_local bool kernel_failed = false;

void* memory_of_kernel(const void* address, size_t bytes) {
  const uintptr_t found = untagged(running_on, address, bytes);
  if (found == 0) kernel_failed = true;
  return reinterpret_cast<void*>(found);
}

bool is_current(simEvent_t event) { return event != nullptr && event->device == current; }

}  // namespace

simError_t simStreamCreateWithPriority(simStream_t* stream, unsigned, int) {
  auto made = std::make_unique<simStream>(current);
  *stream = made.get();
  const std::lock_guard<std::mutex> lock(driver().mutex);
  driver().streams[static_cast<size_t>(current)].push_back(std::move(made));
  return simSuccess;
}
simError_t simStreamDestroy(simStream_t handle) {
  simStream* stream = handle == nullptr ? nullptr : find(handle);
  if (stream == nullptr) return simErrorInvalidHandle;
  const std::lock_guard<std::mutex> lock(driver().mutex);
  stream->destroyed = true;
  return simSuccess;
}
simError_t simStreamSynchronize(simStream_t handle) {
  simStream* stream = find(handle);
  if (stream == nullptr) return simErrorInvalidHandle;
  stream->synchronize();
  return report();
}
simError_t simStreamQuery(simStream_t handle) {
  simStream* stream = find(handle);
  if (stream == nullptr) return simErrorInvalidHandle;
  return stream->is_finished() ? simSuccess : simErrorNotReady;
}
simError_t simStreamWaitEvent(simStream_t handle, simEvent_t event, unsigned) {
  simStream* stream = find(handle);
  // The event may belong to another device: such waits exist for that case.
  if (stream == nullptr || event == nullptr) return simErrorInvalidHandle;
  if (auto point = event->latest) stream->push([point] { point->wait(); });
  return simSuccess;
}

simError_t simEventCreateWithFlags(simEvent_t* event, unsigned flags) {
  *event = new simEvent{current, (flags & simEventDisableTiming) == 0, nullptr};
  return simSuccess;
}
simError_t simEventDestroy(simEvent_t event) {
  if (!is_current(event)) return simErrorInvalidHandle;
  delete event;
  return simSuccess;
}
simError_t simEventRecord(simEvent_t event, simStream_t handle) {
  simStream* stream = find(handle);
  if (stream == nullptr || !is_current(event)) return simErrorInvalidHandle;
  auto point = std::make_shared<Point>();
  event->latest = point;
  stream->mark(point);
  return simSuccess;
}
simError_t simEventSynchronize(simEvent_t event) {
  if (!is_current(event)) return simErrorInvalidHandle;
  if (auto point = event->latest) point->wait();
  return report();
}
simError_t simEventQuery(simEvent_t event) {
  if (!is_current(event)) return simErrorInvalidHandle;
  return event->latest == nullptr || event->latest->is_finished() ? simSuccess : simErrorNotReady;
}
simError_t simEventElapsedTime(float* milliseconds, simEvent_t start, simEvent_t end) {
  if (!is_current(start) || !is_current(end)) return simErrorInvalidHandle;
  if (!start->timing || !end->timing || start->latest == nullptr || end->latest == nullptr)
    return simErrorInvalidHandle;
  if (!start->latest->is_finished() || !end->latest->is_finished()) return simErrorNotReady;
  const auto passed = end->latest->time() - start->latest->time();
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return simSuccess;
}

simError_t simLaunch(void (*kernel)(const void*, simMemory_t), const void* arguments, size_t bytes,
                     simStream_t handle) {
  if (last_error != simSuccess) return simGetLastError();
  simStream* stream = find(handle);
  if (stream == nullptr) return simErrorInvalidHandle;
  const auto* first = static_cast<const unsigned char*>(arguments);
  stream->push([kernel, copy = std::vector<unsigned char>(first, first + bytes)] {
    kernel_failed = false;
    kernel(copy.data(), memory_of_kernel);
    if (!kernel_failed) return;
    Device& device = driver().devices[running_on];
    const std::lock_guard<std::mutex> lock(device.mutex);
    device.failed = true;
  });
  return simSuccess;
}
