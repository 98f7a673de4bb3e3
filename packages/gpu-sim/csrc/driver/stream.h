#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda_api.h"

namespace sim {

/** Completion mark, for which streams and the host can wait. */
class Mark {
 public:
  void set() {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
    time_ = std::chrono::steady_clock::now();
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  bool done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return done_;
  }
  std::chrono::steady_clock::time_point time() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return time_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point time_;
};

using Work = std::function<void()>;

}  // namespace sim

/** Work that a capture has recorded, in order. */
struct CUgraph_st {
  std::vector<sim::Work> nodes;
  bool invalid = false;
  CUstream origin = nullptr;
};

struct CUgraphExec_st {
  std::vector<sim::Work> nodes;
};

struct CUevent_st {
  std::mutex mutex;
  std::shared_ptr<sim::Mark> mark;  // mark of the last record; null if never recorded
  std::shared_ptr<CUgraph_st> capture;
  unsigned flags = 0;
};

/** Stream: a queue of work with its own thread. */
struct CUstream_st {
  CUstream_st(CUcontext context, unsigned flags, int priority);
  ~CUstream_st();

  void add(sim::Work work);
  /** Enqueue a mark that is set when all earlier work has completed. */
  void add(std::shared_ptr<sim::Mark> mark);
  /** Return a mark that is set when all work enqueued so far has completed. */
  std::shared_ptr<sim::Mark> mark();
  bool idle();
  bool blocking() const { return (flags & CU_STREAM_NON_BLOCKING) == 0; }

  CUcontext const context;
  const unsigned flags;
  const int priority;
  std::shared_ptr<CUgraph_st> capture;

 private:
  // Either work or a mark. The stream's thread sets a mark after it has finished the work before,
  // so that a stream is idle once its last mark is set.
  struct Entry {
    sim::Work work;
    std::shared_ptr<sim::Mark> mark;
  };

  void add(Entry entry);
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;
};
