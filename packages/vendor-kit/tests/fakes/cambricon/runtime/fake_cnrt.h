// Shared declarations of the fake libcnrt; fake_cnrt.cpp documents its behavior.
#ifndef FAKE_CNRT_FAKE_CNRT_H_
#define FAKE_CNRT_FAKE_CNRT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../../common/settings.h"
#include "../../common/tagged_memory.h"
#include "../../common/work_queue.h"
#include "../hooks.h"
#include "runtime/cnrt_api.h"

#pragma GCC visibility push(hidden)

namespace dl::cambricon::cnrt {

struct QueueObject : fake_driver::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
  // The first failure of its work that no synchronization has reported yet.
  std::atomic<int> failure{0};
};
struct NotifierObject {
  int device;
  bool timing;
  std::shared_ptr<fake_driver::Point> latest;
};

}  // namespace dl::cambricon::cnrt

namespace fake {

using namespace dl::cambricon::cnrt;

constexpr int kMaxDevices = 8;
constexpr size_t kAlignment = 64;

struct Device {
  fake_driver::TaggedMemory memory{kAlignment, kAlignment};
  std::mutex mutex;
  std::vector<std::unique_ptr<QueueObject>> queues;  // [0] is the default queue
  std::vector<std::unique_ptr<NotifierObject>> notifiers;
};

int count();
Device& device_of(int number);
inline thread_local int current = 0;
inline Device& here() { return device_of(current); }
// Size of each device's memory.
size_t memory_total();

// Logs a call and returns the error that is injected into it.
Code enter(const char* function);

// Returns the object of a handle if it belongs to the current device, else null.
QueueObject* find(Queue queue);
NotifierObject* find(Notifier notifier);

// Runs work on a queue; the work returns an error of the device, or 0.
void push(QueueObject& queue, std::function<int()> work);
// Takes the failure of a queue's work; 0 if there is none.
Code take_failure(QueueObject& queue);

}  // namespace fake

#pragma GCC visibility pop

// Exported explicitly, because their argument types are hidden.
#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed

#endif  // FAKE_CNRT_FAKE_CNRT_H_
