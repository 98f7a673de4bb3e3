#ifndef DL_ASYNC_TEST_PROFILER_H_
#define DL_ASYNC_TEST_PROFILER_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dl/profiler.h"

namespace dl::async_test {

/** What an item does, for the profiler. */
struct Work {
  uint32_t kind = DL_ACTIVITY_KERNEL;
  uint64_t bytes = 0;
};

/** Set on an item that is to be recorded. */
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

/** What one device did. Its clock counts nanoseconds since the device was made. */
class Profiler {
 public:
  Profiler(int32_t device, uint64_t instance, uint64_t room);

  /** Throws Error if it has been started. */
  void start();
  /** Marks nothing any more. Throws Error if it was not started. */
  void stop();

  /** Of what this thread enqueues now; empty: it is not recorded. */
  std::optional<Mark> mark() const;
  /** What ends now; counted only where there is no room. */
  void record(const Mark& mark, const std::string& name, Work work, void* stream, int64_t start);
  int64_t now() const;

  /** What was recorded since the last call, by the start, and how many were only counted. */
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

/** Nanoseconds of CLOCK_MONOTONIC. */
int64_t host_now();

/** Sets what this thread enqueues for an instance from now on; returns what it was. */
uint64_t correlate(uint64_t instance, uint64_t correlation);

}  // namespace dl::async_test

#endif
