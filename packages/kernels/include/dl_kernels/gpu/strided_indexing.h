// GPU: strided indexing with one thread per element of the result.
#ifndef DL_KERNELS_GPU_STRIDED_INDEXING_H_
#define DL_KERNELS_GPU_STRIDED_INDEXING_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/scatter_rows.h"
#include "dl_kernels/gpu/take_rows.h"
#include "dl_kernels/index/indexed_positions.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// Operands: the indexed tensor without its indexed dimensions, the other tensor, and the positions.
inline Plan<3> positions_plan(const IndexedPositions& places, const int64_t* strides) {
  Plan<3> plan;
  plan.ndim = static_cast<int>(places.ndim());
  plan.numel = places.numel();
  int64_t next = 1;
  for (int64_t d = places.ndim() - 1; d >= 0; --d) {
    const int64_t e = d - places.first();
    const bool indexed = e >= 0 && e < places.broadcast_dims();
    plan.shape[d] = places.sizes()[d];
    plan.strides[0][d] = places.strides()[d];
    plan.strides[1][d] = strides[d];
    plan.strides[2][d] = indexed ? next : 0;
    if (indexed) next *= places.sizes()[d];
  }
  simplify(plan);
  return plan;
}

}  // namespace gpu

template <class U>
void gather_positions(const Launch& launch, const IndexedPositions& places, const int64_t* strides,
                      const U* from, U* to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(U));
  const Plan<3> plan = gpu::positions_plan(places, strides);
  if (names_rows(plan)) {
    const int64_t rows = plan.shape[0], bytes = plan.shape[1] * kSize;
    take_rows(launch, to, from, places.positions(), rows, rows, 0, bytes, places.scale() * kSize);
    return;
  }
  take_each(launch, plan, to, from, places.positions(), places.scale());
}

template <class U>
void scatter_positions(const Launch& launch, const IndexedPositions& places, const int64_t* strides,
                       U* to, const U* from) {
  gpu::scatter_all(launch, gpu::positions_plan(places, strides), to, from, places.positions(),
                   places.scale(), ReplaceOp{});
}

template <class A, class T>
void accumulate_positions(const Launch& launch, const IndexedPositions& places,
                          const int64_t* strides, A* to, const T* from) {
  gpu::scatter_all(launch, gpu::positions_plan(places, strides), to, from, places.positions(),
                   places.scale(), ScatterAddOp{});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_STRIDED_INDEXING_H_
