// CPU: work is divided among the host's thread pool; without one it runs on the calling thread.
#ifndef DL_KERNELS_CPU_LAUNCH_H_
#define DL_KERNELS_CPU_LAUNCH_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/handles.h"
#include "dl_kernels/base/matmul_precision.h"
#include "dl_kernels/cpu/scratch.h"

DL_KERNELS_BEGIN

// Thrown when scratch memory cannot be allocated; the operator's name precedes the text.
class NoScratch : public std::bad_alloc {
 public:
  NoScratch(int64_t count, size_t size) {
    std::snprintf(
        text_, sizeof(text_),
        "not enough memory: the call needs scratch memory for %lld elements of %zu bytes; "
        "give smaller tensors, or free memory",
        static_cast<long long>(count), size);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[160];
};

// Below this many elementary steps, waking another thread costs more than it saves.
inline constexpr int64_t kParallelGrain = 32768;

class Launch {
 public:
  explicit Launch(diopiContextHandle_t ctx) : host_(host_of(ctx)) {}

  // Run `body(begin, end)` over pieces of [0, count) with at least `grain` items. An exception of
  // `body` is rethrown here after all pieces have ended.
  template <class F>
  void parallel_for(int64_t count, int64_t grain, const F& body) const {
    if (count <= grain || !has_pool()) {
      if (count > 0) body(int64_t(0), count);
      return;
    }
    struct Call {
      const F* body;
      std::atomic<bool> failed{false};
      std::exception_ptr error{};
    } call{&body};
    const dl_range_fn run = [](void* argument, int64_t begin, int64_t end) {
      auto* shared = static_cast<Call*>(argument);
      try {
        (*shared->body)(begin, end);
      } catch (...) {
        if (!shared->failed.exchange(true)) shared->error = std::current_exception();
      }
    };
    if (host_->parallel_for(host_, 0, count, grain, run, &call) != 0) {
      body(int64_t(0), count);
    } else if (call.failed) {
      std::rethrow_exception(call.error);
    }
  }

  int64_t threads() const {
    if (!has_pool() || !DL_HAS_FIELD(host_, dl_host_t, num_threads) ||
        host_->num_threads == nullptr)
      return 1;
    const int32_t count = host_->num_threads(host_);
    return count > 1 ? count : 1;
  }

  MatmulPrecision matmul_precision() const { return kernels::matmul_precision(host_); }

 private:
  bool has_pool() const {
    return host_ != nullptr && DL_HAS_FIELD(host_, dl_host_t, parallel_for) &&
           host_->parallel_for != nullptr;
  }

  const dl_host_t* host_;
};

// Return the smallest number of items that is worth a thread if each item takes `work` steps.
DL_FN int64_t grain_for(int64_t work) {
  return work >= kParallelGrain ? 1 : kParallelGrain / (work < 1 ? 1 : work);
}

// Uninitialized scratch memory, aligned to 64 bytes, for the duration of a call.
template <class T>
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Launch& launch, int64_t count) { reserve(launch, count); }
  ~Workspace() {
    if (block_.memory != nullptr) ScratchCache::of_thread().give(block_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Allocate; call at most once, and only after the default constructor.
  T* reserve(const Launch&, int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>, "scratch memory does not run constructors");
    // Expanded tensors may have more elements than fit into memory or into a size_t.
    if (static_cast<size_t>(count) > (SIZE_MAX / 2) / sizeof(T)) throw NoScratch(count, sizeof(T));
    block_ = ScratchCache::of_thread().take(static_cast<size_t>(count) * sizeof(T));
    if (block_.memory == nullptr) throw NoScratch(count, sizeof(T));
    return data();
  }

  // Null before `reserve`.
  T* data() const { return static_cast<T*>(block_.memory); }

 private:
  ScratchBlock block_;
};

// The ranges may overlap only if both addresses are equal.
inline void copy_bytes(const Launch& launch, void* to, const void* from, int64_t bytes) {
  if (to == from) return;
  launch.parallel_for(bytes, 4 * kParallelGrain, [=](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

// Set all bytes to 0.
inline void clear_bytes(const Launch&, void* to, int64_t bytes) {
  if (bytes > 0) std::memset(to, 0, static_cast<size_t>(bytes));
}

// Call f(i) for every i; the calls must be independent. `work` is the number of steps per call.
template <class F>
void each(const Launch& launch, int64_t count, int64_t work, const F& f) {
  launch.parallel_for(count, grain_for(work), [&](int64_t begin, int64_t end) {
    DL_VECTOR_LOOP
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// Read elements on the host.
template <class T>
void fetch(const Launch&, const T* from, int64_t count, T* to) {
  std::copy_n(from, count, to);
}
template <class T>
T fetch(const Launch&, const T* from) {
  return *from;
}

// Memory of the host that the kernels read: alive while they run.
template <class T>
class Held {
 public:
  Held(const T* value) : value_(value) {}
  DL_FN const T* operator->() const { return value_; }
  DL_FN const T& operator*() const { return *value_; }

 private:
  const T* value_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_LAUNCH_H_
