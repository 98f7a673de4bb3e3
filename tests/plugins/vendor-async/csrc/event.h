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
  /** When it finished; meaningless before. */
  Time time() const;

  /** The capture that it was recorded in, as Recording::id; 0: it is a point in a stream that runs.
   * Set before anybody else sees it. */
  uint64_t capture = 0;
  /** Throws Error if it was recorded in a capture: it never finishes. */
  void check_runs() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool finished_ = false;
  Time time_;
};

/** An event refers to the completion of its latest record, so that a wait keeps what it was asked
 * to wait for when the event is recorded again or destroyed. Calls on one event are ordered by the
 * caller. */
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
