#include "stream.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "error.h"
#include "lie.h"
#include "signals.h"

namespace dl::async_test {
void StreamGroup::fail(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = message;
}

void StreamGroup::report() {
  std::string failure;
  {
    const std::lock_guard lock(mutex_);
    failure.swap(failure_);
  }
  if (!failure.empty()) throw Error(DL_ERROR, "earlier work on this device failed: " + failure);
}

Stream::~Stream() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void Stream::enqueue(const char* name, std::function<void()> run, Work work) {
  push(Item{name, std::move(run), work, nullptr, nullptr, std::nullopt});
}

std::shared_ptr<Completion> Stream::record() {
  auto completion = std::make_shared<Completion>();
  {
    const std::lock_guard lock(mutex_);
    if (capture_ != nullptr) {
      completion->capture = capture_->id;
      return completion;
    }
  }
  push(Item{"event_record", [] {}, {}, completion, nullptr, std::nullopt});
  return completion;
}

void Stream::wait_for(std::shared_ptr<Completion> completion) {
  if (completion->capture != 0) {
    const std::lock_guard lock(mutex_);
    // Work captured from one stream is already in order.
    if (capture_ != nullptr && capture_->id == completion->capture) return;
    throw Error(DL_INVALID_ARGUMENT,
                "the event was recorded in a capture, which other streams cannot join; capture "
                "each stream by itself");
  }
  enqueue(
      "stream_wait_event", [completion = std::move(completion)] { completion->wait(); },
      Work{DL_ACTIVITY_WAIT, 0});
}

void Stream::launch(std::shared_ptr<Recording> graph) {
  push(Item{
      "graph_launch", nullptr, {DL_ACTIVITY_GRAPH, 0}, nullptr, std::move(graph), std::nullopt});
}

void Stream::capture_begin() {
  static std::atomic<uint64_t> captures{0};
  const std::lock_guard lock(mutex_);
  if (capture_ != nullptr)
    throw Error(DL_INVALID_ARGUMENT, "the stream captures already; end that capture first");
  capture_ = std::make_shared<Recording>();
  capture_->id = ++captures;
}

std::shared_ptr<Recording> Stream::capture_end() {
  const std::lock_guard lock(mutex_);
  if (capture_ == nullptr)
    throw Error(DL_INVALID_ARGUMENT, "the stream does not capture; begin a capture first");
  return std::exchange(capture_, nullptr);
}

bool Stream::capturing() const {
  const std::lock_guard lock(mutex_);
  return capture_ != nullptr;
}

void Stream::check_runs(const char* what) const {
  if (capturing()) {
    throw Error(DL_INVALID_ARGUMENT, std::string("the stream is being captured, and ") + what +
                                         " needs a running stream; do that outside of the capture");
  }
}

void Stream::push(Item item) {
  const std::lock_guard lock(mutex_);
  if (capture_ != nullptr) {
    capture_->items.push_back(item);
    if (!lie_is(Lie::kCaptureRunsItsWork)) return;
  }
  // Events are not recorded as activities of the device.
  if (item.completion == nullptr) item.mark = group_.profiler.mark();
  if (!thread_.joinable()) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { work(); });
  }
  items_.push_back(std::move(item));
  ++enqueued_;
  ++group_.enqueued;
  wake_.notify_one();
}

void Stream::synchronize() {
  check_runs("waiting for it");
  drain();
}

void Stream::drain() {
  std::unique_lock lock(mutex_);
  const uint64_t target = enqueued_;
  done_.wait(lock, [this, target] { return executed_ >= target; });
}

bool Stream::finished() const {
  check_runs("asking whether it has finished");
  const std::lock_guard lock(mutex_);
  return executed_ == enqueued_;
}

void Stream::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Stream::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  wake_.notify_one();
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  held_ = false;
  capture_ = nullptr;
  wake_.notify_one();
}

void Stream::cancel() {
  std::deque<Item> dropped;
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  dropped.swap(items_);
  executed_ += dropped.size();
  for (const Item& item : dropped) {
    if (item.completion != nullptr) item.completion->finish();
  }
  wake_.notify_one();
  done_.notify_all();
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return cancelled_ || (!held_ && (closed_ || !items_.empty())); });
    if (group_.delay_us > 0 && !items_.empty()) {
      wake_.wait_for(lock, std::chrono::microseconds(group_.delay_us),
                     [this] { return cancelled_; });
      if (held_) continue;
    }
    if (items_.empty()) return;
    Item item = std::move(items_.front());
    items_.pop_front();
    ++group_.started;
    lock.unlock();
    run(item);
    lock.lock();
    ++executed_;
    // After waiting for the event of a stream's last item, a caller finds the stream idle.
    if (item.completion != nullptr) item.completion->finish();
    done_.notify_all();
  }
}

void Stream::execute(const Item& item, const std::optional<Mark>& mark) {
  const int64_t start = group_.profiler.now();
  if (item.graph != nullptr) {
    const std::lock_guard one_run(item.graph->running);
    const bool skip = lie_is(Lie::kReplaySkipsTheLastNode);
    for (const Item& node : item.graph->items) {
      if (!skip || &node != &item.graph->items.back()) execute(node, mark);
    }
  } else {
    try {
      item.run();
    } catch (const std::exception& error) {
      group_.fail("[" + item.name + "] " + error.what());
    } catch (...) {
      group_.fail("[" + item.name + "] an exception of unknown type was thrown");
    }
  }
  if (mark) group_.profiler.record(*mark, item.name, item.work, handle_, start);
}

void Stream::run(Item& item) {
  execute(item, item.mark);
  // Release what the item holds, such as pinned memory, before its end becomes visible.
  item.run = nullptr;
  item.graph = nullptr;
  ++group_.executed;
}

}  // namespace dl::async_test
