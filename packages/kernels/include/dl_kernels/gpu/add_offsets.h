// GPU: one thread per position.
#ifndef DL_KERNELS_GPU_ADD_OFFSETS_H_
#define DL_KERNELS_GPU_ADD_OFFSETS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/index/add_offset.h"
#include "dl_kernels/layout/plan.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

namespace detail {

inline void add_offsets(const Launch& launch, const AddOffset& add, int64_t count) {
  each(launch, count, 1, add);
}

struct AddBroadcastOffset {
  AddOffset add;
  Plan<1> plan;

  DL_FN void operator()(int64_t i) const {
    int64_t offset[1];
    offsets_of(plan, i, offset);
    add.from(i, offset[0]);
  }
};

inline void add_broadcast_offsets(const Launch& launch, const AddOffset& add, const Plan<1>& plan) {
  each(launch, plan.numel, 1, AddBroadcastOffset{add, plan});
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ADD_OFFSETS_H_
