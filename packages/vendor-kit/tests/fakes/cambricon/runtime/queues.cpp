// Queues and notifiers: a queue is a thread, a notifier a point in its work.
#include <chrono>
#include <memory>
#include <utility>

#include "fake_cnrt.h"

using namespace fake;

namespace fake {

QueueObject* find(Queue queue) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  if (queue == nullptr) return device.queues[0].get();
  for (const auto& known : device.queues) {
    if (known.get() == queue && !known->destroyed) return known.get();
  }
  return nullptr;
}

NotifierObject* find(Notifier notifier) {
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (const auto& known : device.notifiers) {
    if (known.get() == notifier) return known.get();
  }
  return nullptr;
}

void push(QueueObject& queue, std::function<int()> work) {
  queue.push([&queue, work = std::move(work)] {
    int none = 0;
    if (const int failed = work()) queue.failure.compare_exchange_strong(none, failed);
  });
}

Code take_failure(QueueObject& queue) { return queue.failure.exchange(0); }

}  // namespace fake

FAKE Code cnrtSyncDevice() {
  ENTER(cnrtSyncDevice);
  std::vector<QueueObject*> all;
  {
    Device& device = here();
    const std::lock_guard<std::mutex> lock(device.mutex);
    for (const auto& queue : device.queues) all.push_back(queue.get());
  }
  Code first = kSuccess;
  for (QueueObject* queue : all) {
    queue->synchronize();
    const Code failed = take_failure(*queue);
    if (first == kSuccess) first = failed;
  }
  return first;
}

FAKE Code cnrtQueueCreateWithPriority(Queue* out, unsigned flags, int) {
  ENTER(cnrtQueueCreateWithPriority);
  if (flags != 0) return kInvalidArgument;
  auto made = std::make_unique<QueueObject>(current);
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().queues.push_back(std::move(made));
  return kSuccess;
}
// The thread is kept, so that use of a stale handle is detected.
FAKE Code cnrtQueueDestroy(Queue handle) {
  ENTER(cnrtQueueDestroy);
  QueueObject* queue = handle == nullptr ? nullptr : find(handle);
  if (queue == nullptr) return kInvalidHandle;
  const std::lock_guard<std::mutex> lock(here().mutex);
  queue->destroyed = true;
  return kSuccess;
}
FAKE Code cnrtQueueSync(Queue handle) {
  ENTER(cnrtQueueSync);
  QueueObject* queue = find(handle);
  if (queue == nullptr) return kInvalidHandle;
  queue->synchronize();
  return take_failure(*queue);
}
FAKE Code cnrtQueueQuery(Queue handle) {
  ENTER(cnrtQueueQuery);
  QueueObject* queue = find(handle);
  if (queue == nullptr) return kInvalidHandle;
  return queue->is_finished() ? Code(kSuccess) : Code(kNotReady);
}
// The notifier may belong to another device: such waits exist for that case.
FAKE Code cnrtQueueWaitNotifier(Notifier notifier, Queue handle, unsigned flag) {
  ENTER(cnrtQueueWaitNotifier);
  QueueObject* queue = find(handle);
  if (queue == nullptr || notifier == nullptr) return kInvalidHandle;
  if (flag != 0 || notifier->latest == nullptr) return kInvalidArgument;
  queue->push([point = notifier->latest] { point->wait(); });
  return kSuccess;
}

FAKE Code cnrtNotifierCreateWithFlags(Notifier* out, unsigned flags) {
  ENTER(cnrtNotifierCreateWithFlags);
  if (flags != kTiming && flags != kNoTiming) return kInvalidArgument;
  auto made = std::make_unique<NotifierObject>(NotifierObject{current, flags == kTiming, nullptr});
  *out = made.get();
  const std::lock_guard<std::mutex> lock(here().mutex);
  here().notifiers.push_back(std::move(made));
  return kSuccess;
}
FAKE Code cnrtNotifierDestroy(Notifier handle) {
  ENTER(cnrtNotifierDestroy);
  Device& device = here();
  const std::lock_guard<std::mutex> lock(device.mutex);
  for (auto at = device.notifiers.begin(); at != device.notifiers.end(); ++at) {
    if (at->get() != handle) continue;
    device.notifiers.erase(at);
    return kSuccess;
  }
  return kInvalidHandle;
}
FAKE Code cnrtPlaceNotifier(Notifier handle, Queue to) {
  ENTER(cnrtPlaceNotifier);
  QueueObject* queue = find(to);
  NotifierObject* notifier = find(handle);
  if (queue == nullptr || notifier == nullptr) return kInvalidHandle;
  auto point = std::make_shared<fake_driver::Point>();
  notifier->latest = point;
  queue->mark(point);
  return kSuccess;
}
FAKE Code cnrtWaitNotifier(Notifier handle) {
  ENTER(cnrtWaitNotifier);
  NotifierObject* notifier = find(handle);
  if (notifier == nullptr) return kInvalidHandle;
  if (notifier->latest == nullptr) return kInvalidArgument;
  notifier->latest->wait();
  return kSuccess;
}
FAKE Code cnrtQueryNotifier(Notifier handle) {
  ENTER(cnrtQueryNotifier);
  NotifierObject* notifier = find(handle);
  if (notifier == nullptr) return kInvalidHandle;
  if (notifier->latest == nullptr) return kInvalidArgument;
  return notifier->latest->is_finished() ? Code(kSuccess) : Code(kNotReady);
}
FAKE Code cnrtNotifierElapsedTime(Notifier from, Notifier to, float* milliseconds) {
  ENTER(cnrtNotifierElapsedTime);
  NotifierObject *start = find(from), *end = find(to);
  if (start == nullptr || end == nullptr) return kInvalidHandle;
  if (!start->timing || !end->timing || start->latest == nullptr || end->latest == nullptr)
    return kInvalidArgument;
  if (!start->latest->is_finished() || !end->latest->is_finished()) return kNotReady;
  const auto passed = end->latest->time() - start->latest->time();
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return kSuccess;
}

FAKE int fakeCnrtQueueDevice(void* queue) {
  if (queue == nullptr) return current;
  for (int i = 0; i < kMaxDevices; ++i) {
    const std::lock_guard<std::mutex> lock(device_of(i).mutex);
    for (const auto& known : device_of(i).queues) {
      if (known.get() == queue && !known->destroyed) return i;
    }
  }
  return -1;
}
FAKE int fakeCnrtEnqueue(void* handle, int (*work)(void*), void* argument, void (*release)(void*)) {
  const std::shared_ptr<void> owned(argument, release);
  QueueObject* queue = find(static_cast<Queue>(handle));
  if (queue == nullptr) return kInvalidHandle;
  push(*queue, [owned, work] { return work(owned.get()); });
  return kSuccess;
}
