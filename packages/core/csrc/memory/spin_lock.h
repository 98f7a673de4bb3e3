// A spin lock that protects a few instructions. Every allocation takes it; it costs half as much as
// an uncontended mutex. A waiting thread yields.
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
