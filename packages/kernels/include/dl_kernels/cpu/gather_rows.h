// CPU: elements at the positions of an index tensor, in the order of the output's memory. A
// position that is the same along a whole row copies the row.
#ifndef DL_KERNELS_CPU_GATHER_ROWS_H_
#define DL_KERNELS_CPU_GATHER_ROWS_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/layout/reduce_plan.h"

DL_KERNELS_BEGIN

// The operands of `plan` are output, index and input; `step` is the input's stride along the
// indexed dimension, in which its stride in the plan is 0.
template <class U>
void gather_rows(const Launch& launch, const Plan<3>& plan, U* out, const int64_t* index,
                 const U* in, int64_t step) {
  const int inner = plan.ndim - 1;
  const int64_t width = plan.shape[inner];
  const int64_t a = plan.strides[0][inner], b = plan.strides[1][inner], c = plan.strides[2][inner];
  launch.parallel_for(plan.numel / width, grain_for(width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t offsets[3];
      offsets_of(plan, row * width, offsets);
      U* const to = out + offsets[0];
      const int64_t* const at = index + offsets[1];
      const U* const from = in + offsets[2];
      if (b == 0 && a == 1 && c == 1) {
        std::memcpy(static_cast<void*>(to), from + *at * step,
                    static_cast<size_t>(width) * sizeof(U));
      } else {
        DL_VECTOR_LOOP
        for (int64_t i = 0; i < width; ++i) to[i * a] = from[i * c + at[i * b] * step];
      }
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GATHER_ROWS_H_
