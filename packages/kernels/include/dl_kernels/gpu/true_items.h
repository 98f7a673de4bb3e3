// GPU: blocks count the true items of their pieces, one block adds up the counts, and then every
// true item knows its number.
#ifndef DL_KERNELS_GPU_TRUE_ITEMS_H_
#define DL_KERNELS_GPU_TRUE_ITEMS_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/dtype_dispatch.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/numeric.h"
#include "dl_kernels/plan.h"
#include "dl_kernels/reduce_plan.h"
#include "dl_kernels/tensor_ref.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int64_t kTruePiece = 4096;

template <class T>
struct CountTrue {
  const T* from;
  int64_t items;
  int64_t* counts;

  DL_DEVICE void operator()(const Block& block, int64_t piece) const {
    const int64_t first = piece * kTruePiece, left = items - first;
    const T* x = from + first;
    const int64_t count = block.sum(left < kTruePiece ? left : kTruePiece,
                                    [x](int64_t i) { return int64_t(cast<bool>(x[i]) ? 1 : 0); });
    int64_t* to = counts + piece;
    block.map(1, [=](int64_t) { *to = count; });
  }
};

// From counts to how many there are up to the end of each piece.
struct AddCounts {
  int64_t* counts;
  int64_t pieces;

  DL_DEVICE void operator()(const Block& block, int64_t) const {
    int64_t* x = counts;
    block.scan<int64_t>(
        pieces, [x](int64_t i) { return x[i]; }, [](int64_t a, int64_t b) { return a + b; },
        [x](int64_t i, int64_t total) { x[i] = total; });
  }
};

template <class T, class Emit>
struct EmitTrue {
  const T* from;
  int64_t items;
  const int64_t* until;
  Emit emit;

  DL_DEVICE void operator()(const Block& block, int64_t piece) const {
    const int64_t first = piece * kTruePiece, left = items - first;
    const int64_t before = piece == 0 ? 0 : until[piece - 1];
    const T* x = from + first;
    const Emit& found = emit;
    block.scan<int32_t>(
        left < kTruePiece ? left : kTruePiece,
        [x](int64_t i) { return int32_t(cast<bool>(x[i]) ? 1 : 0); },
        [](int32_t a, int32_t b) { return a + b; },
        [&found, x, first, before](int64_t i, int32_t number) {
          if (cast<bool>(x[i])) found(before + number - 1, first + i);
        });
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
      : launch_(launch), from_(from), items_(items) {
    if (items == 0) return;
    until_.reserve(launch, pieces());
    rows(launch, pieces(), gpu::kTruePiece, gpu::CountTrue<T>{from, items, until_.data()});
    rows(launch, 1, pieces(), gpu::AddCounts{until_.data(), pieces()});
    count_ = fetch(launch, until_.data() + pieces() - 1);
  }

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
    if (count_ == 0) return;
    rows(launch_, pieces(), gpu::kTruePiece,
         gpu::EmitTrue<T, Emit>{from_, items_, until_.data(), emit});
  }

 private:
  int64_t pieces() const { return (items_ + gpu::kTruePiece - 1) / gpu::kTruePiece; }

  Launch launch_;
  const T* from_;
  int64_t items_, count_ = 0;
  Workspace<int64_t> until_;
};

inline diopiError_t take_true(diopiContextHandle_t, const char*, const TrueItems<bool>& items,
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
