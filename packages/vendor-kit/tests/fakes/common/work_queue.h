// A stream of a fake driver: a queue with one thread, which never ends, and points in the queue
// that other queues and the host can wait for.
#ifndef DL_FAKES_WORK_QUEUE_H_
#define DL_FAKES_WORK_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#pragma GCC visibility push(hidden)

namespace fake_driver {

using Clock = std::chrono::steady_clock;

inline thread_local int running_on = -1;  // the device, on the thread of a queue

// A point in a queue, complete once all earlier work has run.
class Point {
 public:
  void finish() {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    time_ = Clock::now();
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return finished_; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return finished_;
  }
  // The completion time.
  Clock::time_point time() const { return time_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  Clock::time_point time_;
};

class WorkQueue {
 public:
  explicit WorkQueue(int owner) : device(owner) {}

  void push(std::function<void()> item) { push(std::move(item), nullptr); }
  // Finishes the point when all earlier work has run; the queue may be idle by then.
  void mark(std::shared_ptr<Point> point) {
    push([] {}, std::move(point));
  }
  // Waits for all work pushed so far.
  void synchronize() {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t target = pushed_;
    changed_.wait(lock, [&] { return done_ >= target; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return done_ == pushed_;
  }
  // Holds later work back until the queue is released.
  void hold(bool whether) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = whether;
    changed_.notify_all();
  }

  const int device;

 private:
  struct Item {
    std::function<void()> run;
    std::shared_ptr<Point> point;  // or null
  };

  void push(std::function<void()> run, std::shared_ptr<Point> point) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) std::thread([this] { work(); }).detach();
    started_ = true;
    items_.push_back({std::move(run), std::move(point)});
    ++pushed_;
    changed_.notify_all();
  }
  void work() {
    running_on = device;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !held_ && !items_.empty(); });
      std::shared_ptr<Point> point;
      {
        const Item item = std::move(items_.front());
        items_.pop_front();
        point = item.point;
        lock.unlock();
        item.run();
      }
      lock.lock();
      ++done_;
      changed_.notify_all();
      // Not before the queue counts the work: whoever waited for the point may find it idle.
      if (point != nullptr) point->finish();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  uint64_t pushed_ = 0, done_ = 0;
  bool held_ = false, started_ = false;
};

}  // namespace fake_driver

#pragma GCC visibility pop

#endif  // DL_FAKES_WORK_QUEUE_H_
