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

/** What the streams of one device share: their pace, how far they are, and the first failure not
 * yet reported. */
class StreamGroup {
 public:
  StreamGroup(uint64_t delay, int32_t device, uint64_t instance, uint64_t activities)
      : delay_us(delay), profiler(device, instance, activities) {}

  void fail(const std::string& message);
  /** Throws the first failure since the last call, if there was one. */
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

/** What a stream runs in one go. */
struct Item {
  std::string name;
  std::function<void()> run;
  Work work;
  std::shared_ptr<Completion> completion;
  std::shared_ptr<Recording> graph;  // instead of `run`
  std::optional<Mark> mark;          // of the profiler; empty: nobody wants to know
};

/** What a stream captured: a graph, once the capture has ended. */
struct Recording {
  uint64_t id;
  std::vector<Item> items;
  std::mutex running;  // its runs do not overlap
};

/** A queue of items that one thread runs in order. The thread starts with the first item. */
class Stream {
 public:
  /** `handle` is what the host calls it; NULL for the default stream. */
  Stream(StreamGroup& group, void* handle) : group_(group), handle_(handle) {}
  /** Drops what has not started and joins the thread. */
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /** Returns at once. `name` appears in the message if `run` throws. */
  void enqueue(const char* name, std::function<void()> run, Work work = {});
  /** The completion of everything enqueued so far. */
  std::shared_ptr<Completion> record();
  /** Nothing enqueued later starts before `completion` is finished. */
  void wait_for(std::shared_ptr<Completion> completion);
  /** These three throw Error while the stream captures. */
  void synchronize();
  bool finished() const;
  /** `what` needs that work runs. */
  void check_runs(const char* what) const;
  /** As synchronize; what is captured does not count. */
  void drain();

  /** What is enqueued from now on is recorded and does not run. Throws Error if it is already. */
  void capture_begin();
  /** The end of that. Throws Error if nothing is captured. */
  std::shared_ptr<Recording> capture_end();
  bool capturing() const;
  void launch(std::shared_ptr<Recording> graph);

  void hold();
  void release();

  /** No more items will come: runs what is left, held or not, then ends the thread. A capture is
   * dropped. */
  void close();
  /** Drops what has not started; its completions count as finished, so that nobody waits for them.
   */
  void cancel();

 private:
  void push(Item item);
  void work();
  void run(Item& item);
  /** Runs the item, or each of its graph's; tells the profiler. */
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
