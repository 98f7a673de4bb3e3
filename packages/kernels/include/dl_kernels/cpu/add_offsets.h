// CPU: positions advance in loops over the index tensor's dimensions.
#ifndef DL_KERNELS_CPU_ADD_OFFSETS_H_
#define DL_KERNELS_CPU_ADD_OFFSETS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/index/add_offset.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace detail {

// `add` is passed by value, so that writes to the output cannot alias it.
inline void add_offsets(const Launch&, AddOffset add, int64_t count) {
  for (int64_t i = 0; i < count; ++i) add(i);
}

// The divisions by extents that GPU threads need would dominate the cost here.
inline void add_broadcast_offsets(const Launch&, AddOffset add, const Plan<1>& plan) {
  int64_t at[kMaxDims] = {};
  int64_t offset = 0;
  for (int64_t i = 0; i < plan.numel; ++i) {
    add.from(i, offset);
    for (int d = plan.ndim - 1; d >= 0; --d) {
      offset += plan.strides[0][d];
      if (++at[d] < plan.shape[d]) break;
      offset -= plan.strides[0][d] * at[d];
      at[d] = 0;
    }
  }
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_ADD_OFFSETS_H_
