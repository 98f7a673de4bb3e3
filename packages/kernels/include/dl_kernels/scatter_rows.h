// The inner loops of a scatter: elements written to places of their row that an index names.
#ifndef DL_KERNELS_SCATTER_ROWS_H_
#define DL_KERNELS_SCATTER_ROWS_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/dim_plan.h"
#include "dl_kernels/launch.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

struct ReplaceOp {
  template <class T>
  DL_FN T operator()(T, T value) const {
    return value;
  }
};

struct AddOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return wrap_add(a, b);
  }
};

struct MultiplyOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return wrap_mul(a, b);
  }
};

struct LargestOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return max_nan(a, b);
  }
};

struct SmallestOp {
  template <class T>
  DL_FN T operator()(T a, T b) const {
    return min_nan(a, b);
  }
};

// Where a scatter goes, in the order target, source, index; all with the sizes of the index.
struct ScatterPlan {
  DimPlan<3> dims;
  int64_t outer, width;  // rows given out to threads, and neighbouring rows done side by side
  bool side_by_side;
};

// All writes to one place are in one row, and a row has one order: the result never depends on the
// number of threads. Rows that are neighbours in memory are done together, with the dimension of
// the scatter outside of them.
template <class A, class T, class Op>
void scatter_rows(const Launch& launch, const ScatterPlan& plan, A* target, const T* source,
                  const int64_t* index, const Op& combine) {
  const Plan<3>& rows = plan.dims.rows;
  const int inner = rows.ndim - 1;
  const int64_t n = plan.dims.n;
  const int64_t step_a = plan.dims.step[0], step_s = plan.dims.step[1], step_i = plan.dims.step[2];
  const int64_t next_s = rows.strides[1][inner], next_i = rows.strides[2][inner];
  if (!plan.side_by_side) {
    launch.parallel_for(rows.numel, grain_for(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t offsets[3];
        offsets_of(rows, row, offsets);
        A* to = target + offsets[0];
        const T* from = source + offsets[1];
        const int64_t* at = index + offsets[2];
        for (int64_t i = 0; i < n; ++i) {
          A& place = to[at[i * step_i] * step_a];
          place = combine(place, cast<A>(from[i * step_s]));
        }
      }
    });
    return;
  }
  const int64_t lines = rows.shape[inner];
  const int64_t parts = (lines + plan.width - 1) / plan.width;
  launch.parallel_for(
      plan.outer * parts, grain_for(n * plan.width), [&](int64_t begin, int64_t end) {
        for (int64_t item = begin; item < end; ++item) {
          const int64_t first = item % parts * plan.width;
          const int64_t width = lines - first < plan.width ? lines - first : plan.width;
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
                for (int64_t j = 0; j < width; ++j)
                  to[j] = combine(to[j], cast<A>(from[j * next_s]));
              }
            } else {
              for (int64_t j = 0; j < width; ++j) {
                A& place = to[j + at[j * next_i] * step_a];
                place = combine(place, cast<A>(from[j * next_s]));
              }
            }
          }
        }
      });
}

DL_KERNELS_END

#endif  // DL_KERNELS_SCATTER_ROWS_H_
