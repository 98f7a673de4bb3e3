// GPU: true items are marked positions, whose numbers say where they go.
#ifndef DL_KERNELS_GPU_TRUE_ITEMS_H_
#define DL_KERNELS_GPU_TRUE_ITEMS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/numbering.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T>
struct IsTrue {
  const T* from;
  DL_DEVICE bool operator()(int64_t i) const { return cast<bool>(from[i]); }
};

// Calls emit(number, item) for true items alone, numbered from 0.
template <class Emit>
struct EmitTrue {
  Emit emit;
  DL_DEVICE void operator()(int64_t item, int64_t number, bool is_true) const {
    if (is_true) emit(number - 1, item);
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
class TrueItems {
 public:
  TrueItems(const Launch& launch, const T* from, int64_t items)
      : positions_(launch, items, gpu::IsTrue<T>{from}), count_(positions_.count()) {}

  int64_t count() const { return count_; }

  void coordinates(const int64_t* sizes, int64_t ndim, int64_t* const* to, int64_t step) const {
    gpu::EmitCoordinates emit{};
    for (int64_t d = 0; d < ndim; ++d) {
      emit.to[d] = to[d];
      emit.sizes[d] = sizes[d];
    }
    emit.ndim = ndim;
    emit.step = step;
    each_true(emit);
  }

  // Calls emit(number, item) for each true item, numbered in their order.
  template <class Emit>
  void each_true(const Emit& emit) const {
    if (count_ > 0) positions_.number(gpu::EmitTrue<Emit>{emit});
  }

 private:
  gpu::MarkedPositions<gpu::IsTrue<T>> positions_;
  int64_t count_;
};

inline diopiError_t take_true(diopiContextHandle_t, const char*, const TrueItems<Bool>& items,
                              const TensorRef& values, void* to) {
  // In the order of the dimensions, which gives items their numbers.
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
    items.each_true(gpu::EmitValue<U>{static_cast<U*>(to), values.as<const U>(), plan});
    return diopiSuccess;
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TRUE_ITEMS_H_
