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
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "event.h"
#include "profiler.h"

namespace dl::async_test {

/** State shared by the streams of one device: their delay, their progress, and the first unreported
 * failure. */
class StreamGroup {
 public:
  StreamGroup(uint64_t delay, int32_t device, uint64_t instance, uint64_t activities)
      : delay_us(delay), profiler(device, instance, activities) {}

  void fail(const std::string& message);
  /** Throw the first failure since the last call, if there was one. */
  void report();

  const uint64_t delay_us;
  std::atomic<uint64_t> enqueued{0};
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> executed{0};
  Profiler profiler;

 private:
  std::mutex mutex_;
  std::string failure_;
};

struct Recording;

/** A unit of work of a stream. */
struct Item {
  std::string name;
  std::function<void()> run;
  Work work;
  std::shared_ptr<Completion> completion;
  std::shared_ptr<Recording> graph;  // instead of `run`
  std::optional<Mark> mark;          // of the profiler; empty: not requested
};

/** Captured work: a graph, once the capture has ended. */
struct Recording {
  uint64_t id;
  std::vector<Item> items;
  std::mutex running;  // its runs do not overlap
};

/** A queue of items that one thread runs in order. The thread starts with the first item. */
class Stream {
 public:
  /** `handle` is the host's handle; NULL for the default stream. */
  Stream(StreamGroup& group, void* handle) : group_(group), handle_(handle) {}
  /** Drop work that has not started and join the thread. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /** Enqueue without waiting. `name` appears in the message if `run` throws. */
  void enqueue(const char* name, std::function<void()> run, Work work = {});
  /** Return the completion of everything enqueued so far. */
  std::shared_ptr<Completion> record();
  /** Nothing enqueued later starts before `completion` is finished. */
  void wait_for(std::shared_ptr<Completion> completion);
  /** These three throw Error while the stream captures. */
  void synchronize();
  bool finished() const;
  /** Throws Error while the stream captures; `what` names the operation that needs running work. */
  void check_runs(const char* what) const;
  /** Like synchronize; captured work is ignored. */
  void drain();

  /** Record everything that is enqueued from now on instead of running it. Throws Error if it
   * captures already. */
  void capture_begin();
  /** End the capture. Throws Error if the stream does not capture. */
  std::shared_ptr<Recording> capture_end();
  bool capturing() const;
  void launch(std::shared_ptr<Recording> graph);

  void hold();
  void release();

  /** Accept no more items: run the remaining ones, even if held, then end the thread. A capture is
   * dropped. */
  void close();
  /** Drop work that has not started; its completions count as finished, so that waits for them end.
   */
  void cancel();

 private:
  void push(Item item);
  void work();
  void run(Item& item);
  /** Run the item, or each item of its graph, and report it to the profiler. */
  void execute(const Item& item, const std::optional<Mark>& mark);

  StreamGroup& group_;
  void* const handle_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;  // for the thread: items, release, close, cancel
  std::condition_variable done_;  // for synchronize
  std::deque<Item> items_;
  uint64_t enqueued_ = 0;
  uint64_t executed_ = 0;
  bool held_ = false;
  bool closed_ = false;
  bool cancelled_ = false;
  std::shared_ptr<Recording> capture_;
  std::thread thread_;
};

}  // namespace dl::async_test

#endif
