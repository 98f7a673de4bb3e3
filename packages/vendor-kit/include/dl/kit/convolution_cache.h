// Handles of a convolution library, and the plans made with them, used by one thread at a time.
//
//   dl::kit::ConvolutionCache<Handle, Plan>& cache = dl::kit::thread_cache<Handle, Plan>();
//   const Handle handle = cache.handle(device, [] { return created(); });
//   const auto plan = cache.plans().get(ConvolutionKey(device, call, false), [&] { … });
#ifndef DL_KIT_CONVOLUTION_CACHE_H_
#define DL_KIT_CONVOLUTION_CACHE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/convolution.h"
#include "dl/kit/lru.h"

DL_KIT_BEGIN

// Key of the plan cache: everything that affects the choice of plan.
class ConvolutionKey {
 public:
  // `alignments`: the library's plans depend on the alignment of tensors.
  ConvolutionKey(uintptr_t device, const Convolution& call, bool alignments) {
    add(static_cast<int64_t>(device));
    add(static_cast<int64_t>(call.direction));
    add(call.axes);
    add(call.prepare ? 1 : 0);
    for (const Images* images : {&call.input, &call.weight, &call.output}) {
      add(images->dtype);
      add(alignments ? alignment_of(images->data) : 0);
      for (int d = 0; d < call.dimensions(); ++d) {
        add(images->sizes[d]);
        add(images->strides[d]);
      }
    }
    for (int axis = 0; axis < call.axes; ++axis) {
      for (const int64_t* values : {call.stride, call.dilation, call.before, call.after})
        add(values[axis]);
    }
  }
  bool operator==(const ConvolutionKey& other) const { return values_ == other.values_; }
  size_t hash() const {
    size_t hash = 0;
    for (const int64_t value : values_) hash = hash * 1000003U + std::hash<int64_t>()(value);
    return hash;
  }

 private:
  void add(int64_t value) { values_[used_++] = value; }

  std::array<int64_t, 4 + 3 * 12 + 3 * 4> values_{};
  size_t used_ = 0;
};
struct ConvolutionKeyHash {
  size_t operator()(const ConvolutionKey& key) const { return key.hash(); }
};

// A handle for each device and the plans for it.
template <class Handle, class Plan>
class ConvolutionCache {
 public:
  // Returns the handle for the current device, identified by `device`; `create()` makes it. Null if
  // the library does not start on this device; it is tried once.
  template <class Create>
  Handle handle(uintptr_t device, const Create& create) {
    const auto [place, is_new] = handles_.try_emplace(device, nullptr);
    if (is_new) place->second = create();
    return place->second;
  }
  Lru<ConvolutionKey, Plan, ConvolutionKeyHash>& plans() { return plans_; }

 private:
  static constexpr size_t kMostPlans = 1024;
  std::map<uintptr_t, Handle> handles_;
  Lru<ConvolutionKey, Plan, ConvolutionKeyHash> plans_{kMostPlans};
};

// Threads that end leave their entry to other threads. Entries are never destroyed: destroying a
// handle waits for its device, which may be gone when the process exits.
template <class Cache>
class CachePool {
 public:
  static CachePool& all() {
    static auto* const pool = new CachePool;
    return *pool;
  }
  std::unique_ptr<Cache> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return std::make_unique<Cache>();
    auto cache = std::move(free_.back());
    free_.pop_back();
    return cache;
  }
  void give_back(std::unique_ptr<Cache> cache) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(cache));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Cache>> free_;
};

// Returns the entry of the calling thread.
template <class Handle, class Plan>
ConvolutionCache<Handle, Plan>& thread_cache() {
  using Cache = ConvolutionCache<Handle, Plan>;
  struct Own {
    std::unique_ptr<Cache> cache = CachePool<Cache>::all().take();
    Own() = default;
    ~Own() { CachePool<Cache>::all().give_back(std::move(cache)); }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
  };
  thread_local Own own;
  return *own.cache;
}

DL_KIT_END

#endif  // DL_KIT_CONVOLUTION_CACHE_H_
