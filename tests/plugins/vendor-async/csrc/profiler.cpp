#include "profiler.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "error.h"

namespace dl::async_test {
namespace {

thread_local std::map<uint64_t, uint64_t> correlations;  // by instance; 0 is none

}  // namespace

int64_t host_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

uint64_t correlate(uint64_t instance, uint64_t correlation) {
  const auto found = correlations.find(instance);
  const uint64_t before = found == correlations.end() ? 0 : found->second;
  if (correlation != 0) {
    correlations[instance] = correlation;
  } else {
    correlations.erase(instance);
  }
  return before;
}

Profiler::Profiler(int32_t device, uint64_t instance, uint64_t room)
    : device_(device), instance_(instance), room_(room), epoch_(host_now()) {}

void Profiler::start() {
  const std::lock_guard lock(mutex_);
  if (started_) {
    throw Error(DL_INVALID_ARGUMENT, "device " + std::to_string(device_) +
                                         " is being recorded already; stop that first");
  }
  started_ = true;
}

void Profiler::stop() {
  const std::lock_guard lock(mutex_);
  if (!started_) {
    throw Error(DL_INVALID_ARGUMENT,
                "device " + std::to_string(device_) + " is not being recorded; start that first");
  }
  started_ = false;
}

std::optional<Mark> Profiler::mark() const {
  const std::lock_guard lock(mutex_);
  if (!started_) return std::nullopt;
  const auto found = correlations.find(instance_);
  return Mark{found == correlations.end() ? 0 : found->second};
}

void Profiler::record(const Mark& mark, const std::string& name, Work work, void* stream,
                      int64_t start) {
  const int64_t end = now();
  const std::lock_guard lock(mutex_);
  if (activities_.size() == room_) {
    ++dropped_;
  } else {
    activities_.push_back({name, work, stream, mark.correlation, start, end});
  }
}

int64_t Profiler::now() const { return host_now() - epoch_; }

std::vector<Activity> Profiler::collect(uint64_t* dropped) {
  std::vector<Activity> found;
  {
    const std::lock_guard lock(mutex_);
    found.swap(activities_);
    *dropped = std::exchange(dropped_, 0);
  }
  // A graph comes before its items.
  std::stable_sort(found.begin(), found.end(), [](const Activity& a, const Activity& b) {
    return std::make_tuple(a.start, -a.end) < std::make_tuple(b.start, -b.end);
  });
  return found;
}

}  // namespace dl::async_test
