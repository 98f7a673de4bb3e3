// CPU loops of scatter: each row is written by one thread.
#ifndef DL_KERNELS_CPU_SCATTER_ROWS_H_
#define DL_KERNELS_CPU_SCATTER_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/layout/dim_plan.h"

DL_KERNELS_BEGIN

// All writes to an element belong to one row, which is processed in order: the result does not
// depend on the number of threads. Rows that are adjacent in memory are processed together, in a
// loop inside the loop over the scatter dimension.
template <class A, class T, class Op>
void scatter_rows(const Launch& launch, const DimPlan<3>& plan, A* target, const T* source, bool,
                  const int64_t* index, const Op& combine) {
  const Plan<3>& rows = plan.rows;
  const int inner = rows.ndim - 1;
  const int64_t n = plan.n, lines = rows.shape[inner];
  const int64_t step_a = plan.step[0], step_s = plan.step[1], step_i = plan.step[2];
  const int64_t next_s = rows.strides[1][inner], next_i = rows.strides[2][inner];
  const bool adjacent = rows.strides[0][inner] == 1 && lines > 1;
  if (!adjacent) {
    launch.parallel_for(rows.numel, grain_for(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t offsets[3];
        offsets_of(rows, row, offsets);
        A* to = target + offsets[0];
        const T* from = source + offsets[1];
        const int64_t* at = index + offsets[2];
        for (int64_t i = 0; i < n; ++i) {
          A& target = to[at[i * step_i] * step_a];
          target = combine(target, cast<A>(from[i * step_s]));
        }
      }
    });
    return;
  }
  // Rows are divided among threads; adjacent ones are processed together.
  const int64_t outer = rows.numel / lines, most = lines > 1024 ? 1024 : lines;
  const int64_t parts = (lines + most - 1) / most;
  launch.parallel_for(outer * parts, grain_for(n * most), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % parts * most;
      const int64_t width = lines - first < most ? lines - first : most;
      int64_t offsets[3];
      offsets_of(rows, item / parts * lines + first, offsets);
      for (int64_t i = 0; i < n; ++i) {
        const T* from = source + offsets[1] + i * step_s;
        const int64_t* at = index + offsets[2] + i * step_i;
        A* to = target + offsets[0];
        if (next_i == 0) {
          to += *at * step_a;
          if (next_s == 1) {
            DL_VECTOR_LOOP
            for (int64_t j = 0; j < width; ++j) to[j] = combine(to[j], cast<A>(from[j]));
          } else {
            for (int64_t j = 0; j < width; ++j) to[j] = combine(to[j], cast<A>(from[j * next_s]));
          }
        } else {
          for (int64_t j = 0; j < width; ++j) {
            A& target = to[j + at[j * next_i] * step_a];
            target = combine(target, cast<A>(from[j * next_s]));
          }
        }
      }
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SCATTER_ROWS_H_
