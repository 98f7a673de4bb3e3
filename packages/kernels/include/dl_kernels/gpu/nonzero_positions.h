// GPU: nonzero elements are marked positions; their prefix counts are the output positions.
#ifndef DL_KERNELS_GPU_NONZERO_POSITIONS_H_
#define DL_KERNELS_GPU_NONZERO_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/prefix_count.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T>
struct IsNonzero {
  const T* from;
  DL_DEVICE bool operator()(int64_t i) const { return cast<bool>(from[i]); }
};

// Call emit(number, item) for nonzero items only, numbered from 0.
template <class Emit>
struct EmitNonzero {
  Emit emit;
  DL_DEVICE void operator()(int64_t item, int64_t number, bool is_nonzero) const {
    if (is_nonzero) emit(number - 1, item);
  }
};

struct EmitCoordinates {
  int64_t* to[kMaxDims];
  int64_t sizes[kMaxDims];
  int64_t ndim, step;

  DL_DEVICE void operator()(int64_t number, int64_t item) const {
    for (int64_t d = ndim - 1; d >= 0; --d) {
      const int64_t rest = item / sizes[d];
      to[d][number * step] = item - rest * sizes[d];
      item = rest;
    }
  }
};

template <class U>
struct EmitValue {
  U* to;
  const U* from;
  Plan<1> plan;

  DL_DEVICE void operator()(int64_t number, int64_t item) const {
    int64_t offset[1];
    offsets_of(plan, item, offset);
    to[number] = from[offset[0]];
  }
};

}  // namespace gpu

template <class T>
class NonzeroPositions {
 public:
  NonzeroPositions(const Launch& launch, const T* from, int64_t items)
      : positions_(launch, items, gpu::IsNonzero<T>{from}), count_(positions_.count()) {}

  int64_t count() const { return count_; }

  void coordinates(const int64_t* sizes, int64_t ndim, int64_t* const* to, int64_t step) const {
    gpu::EmitCoordinates emit{};
    for (int64_t d = 0; d < ndim; ++d) {
      emit.to[d] = to[d];
      emit.sizes[d] = sizes[d];
    }
    emit.ndim = ndim;
    emit.step = step;
    each_nonzero(emit);
  }

  // Call emit(number, item) for each nonzero item, numbered in order.
  template <class Emit>
  void each_nonzero(const Emit& emit) const {
    if (count_ > 0) positions_.number(gpu::EmitNonzero<Emit>{emit});
  }

 private:
  gpu::MarkedPositions<gpu::IsNonzero<T>> positions_;
  int64_t count_;
};

inline diopiError_t take_nonzero(diopiContextHandle_t, const char*,
                                 const NonzeroPositions<Bool>& found, const TensorRef& values,
                                 void* to) {
  // Keep the order of the dimensions, which defines the numbers of items.
  Plan<1> plan;
  plan.ndim = values.ndim == 0 ? 1 : static_cast<int>(values.ndim);
  plan.numel = values.numel;
  plan.shape[0] = 1;
  plan.strides[0][0] = 0;
  for (int64_t d = 0; d < values.ndim; ++d) {
    plan.shape[d] = values.sizes[d];
    plan.strides[0][d] = values.strides[d];
  }
  return dispatch_size(values.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    found.each_nonzero(gpu::EmitValue<U>{static_cast<U*>(to), values.as<const U>(), plan});
    return diopiSuccess;
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NONZERO_POSITIONS_H_
