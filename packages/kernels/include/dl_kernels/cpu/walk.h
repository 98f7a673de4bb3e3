// Visiting the rows of an elementwise operator: in one piece, in rows, or in tiles where an operand
// is transposed; on the host's threads where there is enough to do.
#ifndef DL_KERNELS_CPU_WALK_H_
#define DL_KERNELS_CPU_WALK_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/plan.h"
#include "dl_kernels/tensor_ref.h"

DL_KERNELS_BEGIN

// What is done with one row: n elements at data[k], steps[k] elements apart.
template <int N>
struct RowTask {
  void (*run)(const void* functor, int64_t n, void* const* data, const int64_t* steps);
  const void* functor;
  int64_t element_sizes[N];

  // The same from `offsets[k]` elements on.
  void run_at(int64_t n, void* const* data, const int64_t* offsets, const int64_t* steps) const {
    void* moved[N];
    for (int k = 0; k < N; ++k)
      moved[k] = static_cast<char*>(data[k]) + offsets[k] * element_sizes[k];
    run(functor, n, moved, steps);
  }
};

namespace detail {

template <int N>
void run_flat(const Launch& launch, const RowTask<N>& task, int64_t n, void* const* data,
              const int64_t* steps) {
  launch.parallel_for(n, kParallelGrain, [&](int64_t begin, int64_t end) {
    int64_t offsets[N];
    for (int k = 0; k < N; ++k) offsets[k] = begin * steps[k];
    task.run_at(end - begin, data, offsets, steps);
  });
}

// Elements begin…end-1 in the plan's order; the first and the last row may be partial.
template <int N>
void walk_rows(const RowTask<N>& task, const Plan<N>& plan, void* const* data, int64_t begin,
               int64_t end) {
  const int inner = plan.ndim - 1;
  const int64_t width = plan.shape[inner];
  int64_t at[kMaxDims];
  int64_t offsets[N] = {};
  int64_t steps[N];
  for (int k = 0; k < N; ++k) steps[k] = plan.strides[k][inner];
  int64_t rest = begin;
  for (int d = inner; d >= 0; --d) {
    at[d] = rest % plan.shape[d];
    rest /= plan.shape[d];
    for (int k = 0; k < N; ++k) offsets[k] += at[d] * plan.strides[k][d];
  }
  for (int64_t i = begin; i < end;) {
    const int64_t left = width - at[inner];
    const int64_t n = end - i < left ? end - i : left;
    task.run_at(n, data, offsets, steps);
    i += n;
    for (int k = 0; k < N; ++k) offsets[k] -= at[inner] * steps[k];
    at[inner] = 0;
    for (int d = inner - 1; d >= 0; --d) {
      ++at[d];
      for (int k = 0; k < N; ++k) offsets[k] += plan.strides[k][d];
      if (at[d] < plan.shape[d]) break;
      for (int k = 0; k < N; ++k) offsets[k] -= at[d] * plan.strides[k][d];
      at[d] = 0;
    }
  }
}

inline constexpr int64_t kTile = 32;

// The dimension along which some operand is dense while walking rows would touch a new cache line
// per element of it; -1 where rows are the right order.
template <int N>
int dense_column_dim(const Plan<N>& plan) {
  const int inner = plan.ndim - 1;
  for (int k = 0; k < N; ++k) {
    if (plan.strides[k][inner] <= 8) continue;
    for (int d = 0; d < inner; ++d) {
      if (plan.strides[k][d] == 1) return d;
    }
  }
  return -1;
}

// Squares of the dimension `lines` and the innermost one.
template <int N>
void walk_tiles(const Launch& launch, const RowTask<N>& task, const Plan<N>& plan, int lines,
                void* const* data) {
  const int inner = plan.ndim - 1;
  const int64_t rows = plan.shape[lines], columns = plan.shape[inner];
  const int64_t bands = (rows + kTile - 1) / kTile;
  const int64_t outer = plan.numel / (rows * columns);
  launch.parallel_for(outer * bands, grain_for(kTile * columns), [&](int64_t begin, int64_t end) {
    int64_t steps[N];
    for (int k = 0; k < N; ++k) steps[k] = plan.strides[k][inner];
    for (int64_t band = begin; band < end; ++band) {
      int64_t base[N] = {};
      int64_t rest = band / bands;
      for (int d = inner - 1; d >= 0; --d) {
        if (d == lines) continue;
        const int64_t at = rest % plan.shape[d];
        rest /= plan.shape[d];
        for (int k = 0; k < N; ++k) base[k] += at * plan.strides[k][d];
      }
      const int64_t first = band % bands * kTile;
      const int64_t last = first + kTile < rows ? first + kTile : rows;
      for (int64_t c = 0; c < columns; c += kTile) {
        const int64_t n = columns - c < kTile ? columns - c : kTile;
        for (int64_t r = first; r < last; ++r) {
          int64_t offsets[N];
          for (int k = 0; k < N; ++k)
            offsets[k] = base[k] + r * plan.strides[k][lines] + c * steps[k];
          task.run_at(n, data, offsets, steps);
        }
      }
    }
  });
}

// Operands that are not flat: broadcast, strided or transposed.
template <int N>
__attribute__((noinline)) diopiError_t run_planned(const Launch& launch, const char* op,
                                                   const RowTask<N>& task,
                                                   const TensorRef (&refs)[N], void* const* data) {
  Plan<N> plan;
  DL_TRY(make_plan(op, plan, refs));
  if (plan.numel == 0) return diopiSuccess;
  if (plan.ndim == 1) {
    int64_t steps[N];
    for (int k = 0; k < N; ++k) steps[k] = plan.strides[k][0];
    run_flat<N>(launch, task, plan.numel, data, steps);
    return diopiSuccess;
  }
  const int lines = plan.numel >= 4 * kTile * kTile ? dense_column_dim(plan) : -1;
  if (lines >= 0) {
    walk_tiles(launch, task, plan, lines, data);
  } else {
    launch.parallel_for(plan.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
      walk_rows(task, plan, data, begin, end);
    });
  }
  return diopiSuccess;
}

}  // namespace detail

// refs[0] is the output. Most calls have contiguous operands of one shape, perhaps with single
// elements among them: those get by without a plan.
template <int N>
diopiError_t run_elementwise(diopiContextHandle_t ctx, const char* op, const RowTask<N>& task,
                             const TensorRef (&refs)[N]) {
  const TensorRef& out = refs[0];
  bool flat = out.contiguous || out.numel == 1;
  int64_t steps[N] = {1};
  void* data[N] = {out.data};
  for (int k = 1; k < N; ++k) {
    data[k] = refs[k].data;
    if (refs[k].numel == 1) {
      steps[k] = out.numel == 1 ? 1 : 0;
    } else {
      steps[k] = 1;
      flat = flat && refs[k].contiguous && same_shape(refs[k], out);
    }
  }
  if (__builtin_expect(flat && out.numel <= kParallelGrain, 1)) {
    if (out.numel != 0) task.run(task.functor, out.numel, data, steps);
    return diopiSuccess;
  }
  const Launch launch(ctx);
  if (!flat) return detail::run_planned(launch, op, task, refs, data);
  detail::run_flat<N>(launch, task, out.numel, data, steps);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_WALK_H_
