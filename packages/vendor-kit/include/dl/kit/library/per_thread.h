// Objects of a library that belong to a thread and a device.
#ifndef DL_KIT_LIBRARY_PER_THREAD_H_
#define DL_KIT_LIBRARY_PER_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "dl/kit/base.h"

DL_KIT_BEGIN

namespace library {

// Number of the calling thread, which no later thread gets.
inline uint64_t thread_number() {
  static std::atomic<uint64_t> next{0};
  thread_local const uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// One T for each thread and device. It stays when its thread ends. Thread-safe.
template <class T>
class PerThread {
 public:
  // The calling thread's T for a device, made by `make()` on first use.
  template <class Make>
  T& get(int32_t device, const Make& make) {
    const Key key{thread_number(), device};
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(key);
    if (found != objects_.end()) return found->second;
    return objects_.emplace(key, make()).first->second;
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, object] : objects_) visit(object);
  }

 private:
  using Key = std::pair<uint64_t, int32_t>;
  struct Hash {
    size_t operator()(const Key& key) const noexcept {
      return std::hash<uint64_t>()(key.first * 1000003U + static_cast<uint64_t>(key.second));
    }
  };

  mutable std::mutex mutex_;
  std::unordered_map<Key, T, Hash> objects_;  // whose entries keep their addresses
};

}  // namespace library

DL_KIT_END

#endif  // DL_KIT_LIBRARY_PER_THREAD_H_
