#include "event.h"

#include "error.h"

namespace dl::async_test {

void Completion::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

bool Completion::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

void Completion::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return finished_; });
}

Completion::Time Completion::time() const {
  const std::lock_guard lock(mutex_);
  return time_;
}

void Completion::check_runs() const {
  if (capture != 0) {
    throw Error(DL_INVALID_ARGUMENT,
                "the event was recorded in a capture, which runs nothing; record it again on a "
                "stream that does not capture");
  }
}

double elapsed_milliseconds(const Event& start, const Event& end) {
  for (const Event* event : {&start, &end}) {
    if (!event->timing) {
      throw Error(DL_INVALID_ARGUMENT, "an event has no timing; create both with DL_EVENT_TIMING");
    }
    if (event->latest == nullptr)
      throw Error(DL_INVALID_ARGUMENT, "an event was never recorded; record both");
    if (!event->latest->finished()) {
      throw Error(DL_INVALID_ARGUMENT, "an event is not finished; synchronise with both first");
    }
  }
  return std::chrono::duration<double, std::milli>(end.latest->time() - start.latest->time())
      .count();
}

}  // namespace dl::async_test
