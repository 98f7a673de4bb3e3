/* What the card's driver keeps of each card: its memory, its streams, and where work stands. */
#ifndef DL_CARD_DRIVER_H_
#define DL_CARD_DRIVER_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "card.h"

#pragma GCC visibility push(hidden)

namespace card {

using Clock = std::chrono::steady_clock;

constexpr int kMostDevices = 64;

inline thread_local int current = 0;
inline thread_local cardError_t last_error = cardSuccess;
inline thread_local int running_on = -1;  // the card, on the thread of a stream

// A point in a stream: finished once all before it has run.
struct Point {
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  Clock::time_point time;

  void finish() {
    const std::lock_guard<std::mutex> lock(mutex);
    finished = true;
    time = Clock::now();
    changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return finished; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex);
    return finished;
  }
};

struct Device {
  std::mutex mutex;
  std::map<uintptr_t, size_t> live;  // host address -> bytes
  size_t used = 0;
  bool failed = false;
};

}  // namespace card

// A queue that one thread, which never ends, works off. Streams are never freed: a stale handle
// must be found out.
struct cardStream {
  const int device;
  bool destroyed = false;

  explicit cardStream(int owner) : device(owner) {}

  void push(std::function<void()> item) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!started) std::thread([this] { work(); }).detach();
    started = true;
    items.push_back(std::move(item));
    ++pushed;
    changed.notify_all();
  }
  void synchronize() {
    std::unique_lock<std::mutex> lock(mutex);
    const uint64_t target = pushed;
    changed.wait(lock, [&] { return done >= target; });
  }
  bool is_finished() {
    const std::lock_guard<std::mutex> lock(mutex);
    return done == pushed;
  }
  void hold(bool whether) {
    const std::lock_guard<std::mutex> lock(mutex);
    held = whether;
    changed.notify_all();
  }

 private:
  void work() {
    card::running_on = device;
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !held && !items.empty(); });
      const std::function<void()> item = std::move(items.front());
      items.pop_front();
      lock.unlock();
      item();
      lock.lock();
      ++done;
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> items;
  uint64_t pushed = 0, done = 0;
  bool held = false, started = false;
};

struct cardEvent {
  int device;
  bool timing;
  std::shared_ptr<card::Point> latest;
};

namespace card {

struct Driver {
  const int count;
  const size_t memory;  // of each card
  Device devices[kMostDevices];
  std::mutex mutex;
  std::vector<std::vector<std::unique_ptr<cardStream>>> streams;  // [0] is the default one

  Driver();
};

Driver& driver();

// The host's address of `bytes` on a card; 0 where they are not all in one allocation of it.
uintptr_t untagged(int device, const void* pointer, size_t bytes);
// The address that a program sees of a card's memory.
uintptr_t tagged(int device, uintptr_t address);

// The stream behind a handle, if it is one of the current card.
cardStream* find(cardStream_t stream);

// The failure of a kernel on the current card, once.
cardError_t report();

}  // namespace card

#pragma GCC visibility pop

#endif
