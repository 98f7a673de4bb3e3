#ifndef DL_ASYNC_TEST_EVENT_H_
#define DL_ASYNC_TEST_EVENT_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace dl::async_test {

/** One point in a stream: finished once everything before it has run. */
class Completion {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void finish();
  bool finished() const;
  void wait() const;
  /** Time when it finished; undefined before. */
  Time time() const;

  /** The capture in which it was recorded, as Recording::id; 0 for a point in a running stream. Set
   * before it becomes visible to others. */
  uint64_t capture = 0;
  /** Throws Error if it was recorded in a capture, since it never finishes then. */
  void check_runs() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool finished_ = false;
  Time time_;
};

/** An event refers to the completion of its latest record, so a wait is not affected when the event
 * is recorded again or destroyed. Calls on one event are ordered by the caller. */
struct Event {
  int32_t device = 0;
  bool timing = false;
  std::shared_ptr<Completion> latest;  // empty until recorded
};

/** Milliseconds from one event to another. Throws Error unless both have timing and are finished.
 */
double elapsed_milliseconds(const Event& start, const Event& end);

}  // namespace dl::async_test

#endif
