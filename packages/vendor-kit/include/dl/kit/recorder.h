// Recorder of device activity reported by a tracer: CUPTI or ROCTracer. A tracer has one client per
// process and no notion of a vendor instance, so there is one recorder per process. `Tracer` has
//
//   Tracer(Recorder<Tracer>&)    calls `add`, `correlated` and `dropped`, on any thread
//   enable()                     enables all activities, or throws Error and enables none
//   disable()
//   flush(bool whole)            reports finished activities, or every activity; throws
//   int64_t now()                the tracer's clock in nanoseconds; throws Error
//   push(uint64_t), pop()        the correlation of the thread's next launches; throw Error
#ifndef DL_KIT_RECORDER_H_
#define DL_KIT_RECORDER_H_

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// One device activity.
struct Recorded {
  std::string name;
  uint32_t kind;         // dl_activity_kind_t
  uint32_t stream;       // the tracer's number; 0 if unknown
  uint64_t launch;       // the tracer's number of the launch that enqueued it
  uint64_t correlation;  // the caller's number, from `correlate`; 0 for none
  int64_t start, end;    // nanoseconds
  uint64_t bytes;
};

// The demangled name of a kernel.
inline std::string plain_name(const char* name) {
  if (name == nullptr) return "kernel";
  int status = 0;
  char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string found = plain == nullptr ? name : plain;
  std::free(plain);
  return found;
}

template <class Tracer>
class Recorder {
 public:
  // Never destroyed: tracers call back until the process exits.
  static Recorder& here() {
    static Recorder* const one = new Recorder;
    return *one;
  }

  // Starts recording a device, identified by the driver's number. Throws Error.
  void start(int device) {
    const std::lock_guard<std::mutex> calls(calls_);
    if (records(device))
      throw Error(DL_INVALID_ARGUMENT, "the device is already being recorded; stop that first");
    if (!records_any()) tracer_.enable();
    const std::lock_guard<std::mutex> lock(mutex_);
    active_.insert(device);
  }
  // Work enqueued before must have finished.
  void stop(int device) {
    const std::lock_guard<std::mutex> calls(calls_);
    if (!records(device))
      throw Error(DL_INVALID_ARGUMENT, "the device is not being recorded; start that first");
    std::exception_ptr failure;
    try {
      tracer_.flush(true);
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      active_.erase(device);
    }
    if (!records_any()) tracer_.disable();
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  // Returns the activities by start time; `dropped` counts activities lost since the last call.
  std::vector<Recorded> collect(int device, uint64_t* dropped) {
    tracer_.flush(false);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Recorded> all = std::move(found_[device]);
    found_.erase(device);
    for (Recorded& one : all) {
      const auto known = correlations_.find(one.launch);
      if (known != correlations_.end()) one.correlation = known->second;
    }
    if (active_.empty() && found_.empty()) correlations_.clear();
    std::stable_sort(all.begin(), all.end(),
                     [](const Recorded& a, const Recorded& b) { return a.start < b.start; });
    *dropped = std::exchange(dropped_, 0);
    return all;
  }

  int64_t now() { return tracer_.now(); }
  // Sets the number for this thread; returns the previous one.
  uint64_t correlate(uint64_t correlation) {
    thread_local uint64_t current = 0;
    if (current != 0) tracer_.pop();
    const uint64_t before = std::exchange(current, 0);
    if (correlation != 0) tracer_.push(correlation);
    current = correlation;
    return before;
  }
  bool records(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return active_.count(device) != 0;
  }
  Tracer& tracer() { return tracer_; }

  // Called by the tracer. Activities of devices that are not recorded are ignored.
  void add(int device, Recorded one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (active_.count(device) != 0) found_[device].push_back(std::move(one));
  }
  void correlated(uint64_t launch, uint64_t correlation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    correlations_[launch] = correlation;
  }
  void dropped(uint64_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped_ += count;
  }

 private:
  Recorder() : tracer_(*this) {}
  bool records_any() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !active_.empty();
  }

  std::mutex calls_;  // serializes start and stop
  std::mutex mutex_;  // guards the members below
  std::set<int> active_;
  std::map<int, std::vector<Recorded>> found_;
  std::unordered_map<uint64_t, uint64_t> correlations_;  // by launch number
  uint64_t dropped_ = 0;
  Tracer tracer_;
};

DL_KIT_END

#endif  // DL_KIT_RECORDER_H_
