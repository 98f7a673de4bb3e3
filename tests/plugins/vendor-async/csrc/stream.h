#ifndef DL_ASYNC_TEST_STREAM_H_
#define DL_ASYNC_TEST_STREAM_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "event.h"

namespace dl::async_test {

/** What the streams of one device share: their pace, how far they are, and the first failure not
 * yet reported. */
class StreamGroup {
 public:
  explicit StreamGroup(uint64_t delay) : delay_us(delay) {}

  void fail(const std::string& message);
  /** Throws the first failure since the last call, if there was one. */
  void report();

  const uint64_t delay_us;
  std::atomic<uint64_t> enqueued{0};
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> executed{0};

 private:
  std::mutex mutex_;
  std::string failure_;
};

/** A queue of items that one thread runs in order. The thread starts with the first item. */
class Stream {
 public:
  explicit Stream(StreamGroup& group) : group_(group) {}
  /** Drops what has not started and joins the thread. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /** Returns at once. `name` appears in the message if `run` throws. */
  void enqueue(const char* name, std::function<void()> run);
  /** The completion of everything enqueued so far. */
  std::shared_ptr<Completion> record();
  /** Nothing enqueued later starts before `completion` is finished. */
  void wait_for(std::shared_ptr<Completion> completion);
  void synchronize();
  bool finished() const;

  void hold();
  void release();

  /** No more items will come: runs what is left, held or not, then ends the thread. */
  void close();
  /** Drops what has not started; its completions count as finished, so that nobody waits for them.
   */
  void cancel();

 private:
  struct Item {
    std::string name;
    std::function<void()> run;
    std::shared_ptr<Completion> completion;
  };

  void push(Item item);
  void work();
  void run(Item item);

  StreamGroup& group_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;  // for the thread: items, release, close, cancel
  std::condition_variable done_;  // for synchronize
  std::deque<Item> items_;
  uint64_t enqueued_ = 0;
  uint64_t executed_ = 0;
  bool held_ = false;
  bool closed_ = false;
  bool cancelled_ = false;
  std::thread thread_;
};

}  // namespace dl::async_test

#endif
