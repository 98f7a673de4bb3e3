#include "stream.h"

#include <signal.h>

#include <chrono>
#include <utility>

#include "error.h"

namespace dl::async_test {
namespace {

/** Blocks asynchronous signals for a scope, so that a thread started in it leaves them to the
 * host's threads. */
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

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

void Stream::enqueue(const char* name, std::function<void()> run) {
  push(Item{name, std::move(run), nullptr});
}

std::shared_ptr<Completion> Stream::record() {
  auto completion = std::make_shared<Completion>();
  push(Item{"event_record", [] {}, completion});
  return completion;
}

void Stream::wait_for(std::shared_ptr<Completion> completion) {
  enqueue("stream_wait_event", [completion = std::move(completion)] { completion->wait(); });
}

void Stream::push(Item item) {
  const std::lock_guard lock(mutex_);
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
  std::unique_lock lock(mutex_);
  const uint64_t target = enqueued_;
  done_.wait(lock, [this, target] { return executed_ >= target; });
}

bool Stream::finished() const {
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
    run(std::move(item));
    lock.lock();
    ++executed_;
    done_.notify_all();
  }
}

void Stream::run(Item item) {
  try {
    item.run();
  } catch (const std::exception& error) {
    group_.fail("[" + item.name + "] " + error.what());
  } catch (...) {
    group_.fail("[" + item.name + "] an exception of unknown type was thrown");
  }
  // What the item holds, pinned memory for one, is free before anybody can learn that it has run.
  item.run = nullptr;
  ++group_.executed;
  if (item.completion != nullptr) item.completion->finish();
}

}  // namespace dl::async_test
