#ifndef DL_ASYNC_TEST_PROFILER_H_
#define DL_ASYNC_TEST_PROFILER_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dl/profiler.h"

namespace dl::async_test {

/** Kind of an item, for the profiler. */
struct Work {
  uint32_t kind = DL_ACTIVITY_KERNEL;
  uint64_t bytes = 0;
};

/** Mark of an item that is to be recorded. */
struct Mark {
  uint64_t correlation;
};

struct Activity {
  std::string name;
  Work work;
  void* stream;
  uint64_t correlation;
  int64_t start;
  int64_t end;
};

/** Activities of one device. Its clock counts nanoseconds since the device was created. */
class Profiler {
 public:
  Profiler(int32_t device, uint64_t instance, uint64_t room);

  /** Throws Error if it has been started already. */
  void start();
  /** Stop recording. Throws Error if it was not started. */
  void stop();

  /** Return the mark for what this thread enqueues now; empty if it is not recorded. */
  std::optional<Mark> mark() const;
  /** Record an activity that ends now; only count it if the buffer is full. */
  void record(const Mark& mark, const std::string& name, Work work, void* stream, int64_t start);
  int64_t now() const;

  /** Return the activities recorded since the last call, by start time, and the number of those
   * only counted. */
  std::vector<Activity> collect(uint64_t* dropped);

  int32_t device() const { return device_; }

 private:
  const int32_t device_;
  const uint64_t instance_;
  const uint64_t room_;
  const int64_t epoch_;
  mutable std::mutex mutex_;
  bool started_ = false;
  uint64_t dropped_ = 0;
  std::vector<Activity> activities_;
};

/** Return CLOCK_MONOTONIC in nanoseconds. */
int64_t host_now();

/** Set the correlation of what this thread enqueues for an instance from now on; return the
 * previous one. */
uint64_t correlate(uint64_t instance, uint64_t correlation);

}  // namespace dl::async_test

#endif
