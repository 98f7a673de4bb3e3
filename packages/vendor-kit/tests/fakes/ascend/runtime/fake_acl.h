// Shared declarations of the fake libascendcl; fake_acl.cpp documents its behavior.
#ifndef FAKE_ACL_FAKE_ACL_H_
#define FAKE_ACL_FAKE_ACL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../common/settings.h"
#include "../../common/tagged_memory.h"
#include "../../common/work_queue.h"
#include "../hooks.h"
#include "runtime/acl_api.h"

#pragma GCC visibility push(hidden)

namespace fake {
struct Capture;
}

namespace dl::ascend::acl {

struct StreamObject : fake_driver::WorkQueue {
  using WorkQueue::WorkQueue;
  bool destroyed = false;
  // The first failure of its work that no synchronization has reported yet.
  std::atomic<int> failure{0};
  // The capture that it is part of, guarded by the mutex of captures.
  std::shared_ptr<fake::Capture> capture;
};
struct EventObject {
  int device;
  uint32_t flags;
  std::shared_ptr<fake_driver::Point> latest;
  // The capture in which it was last recorded, if any.
  std::shared_ptr<fake::Capture> capture;
  StreamObject* captured_on = nullptr;
};

}  // namespace dl::ascend::acl

namespace fake {

using namespace dl::ascend::acl;

constexpr int kMaxDevices = 8;
// Allocations are aligned to 64 bytes and have 32 spare bytes behind them, which kernels may read.
constexpr size_t kAlignment = 64, kSpare = 32;
// Size of each device's memory.
size_t memory_total();

struct Device {
  fake_driver::TaggedMemory memory{kAlignment, kSpare};
  std::mutex mutex;
  std::vector<std::unique_ptr<StreamObject>> streams;  // [0] is the default stream
  std::vector<std::unique_ptr<EventObject>> events;
};

// Work of a stream: returns an error of the device, or 0.
using Work = std::function<int()>;

int count();
bool is_device(int device);
Device& device_of(int number);
// The thread's current device; negative if it has none.
inline thread_local int current = -1;
inline Device& here() { return device_of(current); }

// Logs a call and returns the error that is injected into it, or the error of a call before
// aclInit.
Code enter(const char* function);
// The same, for calls that need a current device.
Code enter_device(const char* function);

// Records an error and its text for the thread, and returns it.
Code note(Code code, const std::string& text);

// Returns the stream of a handle if it belongs to the current device; otherwise null, with an
// error text.
StreamObject* find(Stream stream);
EventObject* find(Event event);
// Runs work on a stream, or adds it to the stream's capture.
void push(StreamObject& stream, Work work);
// Takes the failure of a stream's work; 0 if there is none.
Code take_failure(StreamObject& stream);

// Returns kSuccess if the stream is not capturing. Otherwise the call is not allowed: breaks the
// capture and returns the error.
Code needs_running(StreamObject& stream);
Code needs_running_device();

}  // namespace fake

#pragma GCC visibility pop

// Exported explicitly, because their argument types are hidden.
#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(function) \
  if (const Code failed = enter(#function)) return failed
#define ENTER_DEVICE(function) \
  if (const Code failed = enter_device(#function)) return failed

#endif  // FAKE_ACL_FAKE_ACL_H_
