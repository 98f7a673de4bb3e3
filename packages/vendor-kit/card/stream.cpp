// Streams, events and kernels of a card.
#include <chrono>
#include <memory>
#include <vector>

#include "driver.h"

using namespace card;

namespace {

thread_local bool kernel_failed = false;

void* memory_of_kernel(const void* address, size_t bytes) {
  const uintptr_t found = untagged(running_on, address, bytes);
  if (found == 0) kernel_failed = true;
  return reinterpret_cast<void*>(found);
}

bool is_current(cardEvent_t event) { return event != nullptr && event->device == current; }

}  // namespace

cardError_t cardStreamCreateWithPriority(cardStream_t* stream, unsigned, int) {
  auto made = std::make_unique<cardStream>(current);
  *stream = made.get();
  const std::lock_guard<std::mutex> lock(driver().mutex);
  driver().streams[static_cast<size_t>(current)].push_back(std::move(made));
  return cardSuccess;
}
cardError_t cardStreamDestroy(cardStream_t handle) {
  cardStream* stream = handle == nullptr ? nullptr : find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  const std::lock_guard<std::mutex> lock(driver().mutex);
  stream->destroyed = true;
  return cardSuccess;
}
cardError_t cardStreamSynchronize(cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  stream->synchronize();
  return report();
}
cardError_t cardStreamQuery(cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  return stream->is_finished() ? cardSuccess : cardErrorNotReady;
}
cardError_t cardStreamWaitEvent(cardStream_t handle, cardEvent_t event, unsigned) {
  cardStream* stream = find(handle);
  // Of any card: that is what such waits are for.
  if (stream == nullptr || event == nullptr) return cardErrorInvalidHandle;
  if (auto point = event->latest) stream->push([point] { point->wait(); });
  return cardSuccess;
}

cardError_t cardEventCreateWithFlags(cardEvent_t* event, unsigned flags) {
  *event = new cardEvent{current, (flags & cardEventDisableTiming) == 0, nullptr};
  return cardSuccess;
}
cardError_t cardEventDestroy(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  delete event;
  return cardSuccess;
}
cardError_t cardEventRecord(cardEvent_t event, cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr || !is_current(event)) return cardErrorInvalidHandle;
  auto point = std::make_shared<Point>();
  event->latest = point;
  stream->push([point] { point->finish(); });
  return cardSuccess;
}
cardError_t cardEventSynchronize(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  if (auto point = event->latest) point->wait();
  return report();
}
cardError_t cardEventQuery(cardEvent_t event) {
  if (!is_current(event)) return cardErrorInvalidHandle;
  return event->latest == nullptr || event->latest->is_finished() ? cardSuccess : cardErrorNotReady;
}
cardError_t cardEventElapsedTime(float* milliseconds, cardEvent_t start, cardEvent_t end) {
  if (!is_current(start) || !is_current(end)) return cardErrorInvalidHandle;
  if (!start->timing || !end->timing || start->latest == nullptr || end->latest == nullptr)
    return cardErrorInvalidHandle;
  if (!start->latest->is_finished() || !end->latest->is_finished()) return cardErrorNotReady;
  const auto passed = end->latest->time() - start->latest->time();
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return cardSuccess;
}

cardError_t cardLaunch(void (*kernel)(const void*, cardMemory_t), const void* arguments,
                       size_t bytes, cardStream_t handle) {
  if (last_error != cardSuccess) return cardGetLastError();
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  const auto* first = static_cast<const unsigned char*>(arguments);
  stream->push([kernel, copy = std::vector<unsigned char>(first, first + bytes)] {
    kernel_failed = false;
    kernel(copy.data(), memory_of_kernel);
    if (!kernel_failed) return;
    Device& device = driver().devices[running_on];
    const std::lock_guard<std::mutex> lock(device.mutex);
    device.failed = true;
  });
  return cardSuccess;
}
