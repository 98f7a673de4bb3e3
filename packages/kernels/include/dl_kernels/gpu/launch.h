// GPU: work is enqueued on the stream of the call, in order, without waiting.
#ifndef DL_KERNELS_GPU_LAUNCH_H_
#define DL_KERNELS_GPU_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/handles.h"
#include "dl_kernels/base/matmul_precision.h"
#include "dl_kernels/gpu/scratch.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

class Launch {
 public:
  explicit Launch(diopiContextHandle_t ctx)
      : ctx_(ctx), stream_(static_cast<gpu::Stream>(stream_of(ctx))) {}

  // A host loop whose body launches kernels: it is not parallel, since the device runs them in
  // order anyway.
  template <class F>
  void parallel_for(int64_t count, int64_t, const F& body) const {
    if (count > 0) body(int64_t(0), count);
  }

  int64_t threads() const { return 1; }
  gpu::Stream stream() const { return stream_; }
  MatmulPrecision matmul_precision() const { return kernels::matmul_precision(host_of(ctx_)); }
  // Device memory for errors found by the stream's checks; null if the host provides none.
  dl_device_error_t* device_error() const { return device_error_of(ctx_); }

  // Shared with objects that outlive the launch.
  const std::shared_ptr<gpu::Scratch>& scratch() const {
    if (scratch_ == nullptr) scratch_ = std::make_shared<gpu::Scratch>(ctx_);
    return scratch_;
  }

 private:
  diopiContextHandle_t ctx_;
  gpu::Stream stream_;
  mutable std::shared_ptr<gpu::Scratch> scratch_;
};

inline constexpr int64_t kParallelGrain = 32768;
inline int64_t grain_for(int64_t) { return 1; }

// Uninitialized scratch memory of the device, for the duration of a call.
template <class T>
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Launch& launch, int64_t count) { reserve(launch, count); }
  ~Workspace() {
    if (data_ != nullptr) scratch_->give_back(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Allocate; call at most once, and only after the default constructor. Null for no elements.
  T* reserve(const Launch& launch, int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>, "scratch memory does not run constructors");
    if (count == 0) return nullptr;
    if (count < 0 || count > INT64_MAX / static_cast<int64_t>(sizeof(T))) {
      throw std::runtime_error("not enough memory: the call needs scratch memory for " +
                               std::to_string(count) + " elements of " + std::to_string(sizeof(T)) +
                               " bytes; give smaller tensors");
    }
    scratch_ = launch.scratch();
    data_ = static_cast<T*>(scratch_->take(count * static_cast<int64_t>(sizeof(T))));
    return data_;
  }

  // Null before `reserve`.
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::shared_ptr<gpu::Scratch> scratch_;
};

// The ranges may overlap only if both addresses are equal.
inline void copy_bytes(const Launch& launch, void* to, const void* from, int64_t bytes) {
  if (to == from || bytes == 0) return;
  gpu::copy(launch.stream(), to, from, static_cast<size_t>(bytes));
}

// Set all bytes to 0.
inline void clear_bytes(const Launch& launch, void* to, int64_t bytes) {
  if (bytes > 0) gpu::clear(launch.stream(), to, static_cast<size_t>(bytes));
}

// Read elements on the host; waits for the stream.
template <class T>
void fetch(const Launch& launch, const T* from, int64_t count, T* to) {
  if (count > 0) gpu::fetch(launch.stream(), to, from, static_cast<size_t>(count) * sizeof(T));
}
template <class T>
T fetch(const Launch& launch, const T* from) {
  T value;
  fetch(launch, from, 1, &value);
  return value;
}

namespace gpu {

template <class F>
DL_KERNEL void item_kernel(int64_t count, F f) {
  const int64_t step = block_count() * kThreads;
  for (int64_t i = block_index() * kThreads + thread_index(); i < count; i += step) f(i);
}

}  // namespace gpu

// Call f(i) for every i; the calls must be independent. `f` is a functor without references.
template <class F>
void each(const Launch& launch, int64_t count, int64_t, const F& f) {
  if (count > 0)
    gpu::run_threads(launch.stream(), gpu::blocks_for(count), gpu::item_kernel<F>, count, f);
}

// Host memory that the kernels read: copied into their arguments.
template <class T>
class Held {
 public:
  Held(const T* value) : value_(*value) {}
  DL_FN const T* operator->() const { return &value_; }
  DL_FN const T& operator*() const { return value_; }

 private:
  T value_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_LAUNCH_H_
