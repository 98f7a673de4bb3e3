// A lock for a handful of instructions, taken by every allocation: half the cost of a mutex where
// nobody else wants it, and a thread that has to wait gives way to the others.
#pragma once

#include <atomic>
#include <thread>

namespace dl::core {

class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) {
      while (held_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace dl::core
