// Traversal of the rows of an elementwise operator: in one piece, in rows, or in tiles where an
// operand is transposed; in parallel if there is enough to do.
#ifndef DL_KERNELS_CPU_WALK_H_
#define DL_KERNELS_CPU_WALK_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/transpose.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

// Rows of `n` elements at data[k], with strides steps[k] between elements and line_steps[k] between
// rows.
struct TaskRows {
  int64_t count, n;
  const int64_t *steps, *line_steps;
};

// A task for several rows: many tensors have rows so short that a call per row would dominate.
template <int N>
struct RowTask {
  void (*run)(const void* functor, const TaskRows& rows, void* const* data);
  const void* functor;
  int64_t element_sizes[N];

  // The same, beginning at `offsets[k]` elements.
  void run_at(const TaskRows& rows, void* const* data, const int64_t* offsets) const {
    void* moved[N];
    for (int k = 0; k < N; ++k)
      moved[k] = static_cast<char*>(data[k]) + offsets[k] * element_sizes[k];
    run(functor, rows, moved);
  }
};

namespace detail {

template <int N>
void run_flat(const Launch& launch, const RowTask<N>& task, int64_t n, void* const* data,
              const int64_t* steps) {
  launch.parallel_for(n, kParallelGrain, [&](int64_t begin, int64_t end) {
    int64_t offsets[N];
    for (int k = 0; k < N; ++k) offsets[k] = begin * steps[k];
    task.run_at({1, end - begin, steps, steps}, data, offsets);
  });
}

// Visit elements begin…end-1 in the order of a plan with at least two dimensions; the first and the
// last row may be partial.
template <int N>
void walk_rows(const RowTask<N>& task, const Plan<N>& plan, void* const* data, int64_t begin,
               int64_t end) {
  const int inner = plan.ndim - 1, lines = inner - 1;
  const int64_t width = plan.shape[inner];
  int64_t at[kMaxDims];
  int64_t offsets[N] = {};
  int64_t steps[N], line_steps[N];
  for (int k = 0; k < N; ++k) {
    steps[k] = plan.strides[k][inner];
    line_steps[k] = plan.strides[k][lines];
  }
  int64_t rest = begin;
  for (int d = inner; d >= 0; --d) {
    at[d] = rest % plan.shape[d];
    rest /= plan.shape[d];
    for (int k = 0; k < N; ++k) offsets[k] += at[d] * plan.strides[k][d];
  }
  for (int64_t i = begin; i < end;) {
    const int64_t whole = at[inner] == 0 ? (end - i) / width : 0;
    const int64_t left = plan.shape[lines] - at[lines];
    // Whole rows up to the end of a plane, or a part of one row.
    const int64_t count = whole == 0 ? 1 : whole < left ? whole : left;
    const int64_t n = whole != 0                    ? width
                      : end - i < width - at[inner] ? end - i
                                                    : width - at[inner];
    task.run_at({count, n, steps, line_steps}, data, offsets);
    i += count * n;
    for (int k = 0; k < N; ++k) offsets[k] += count * line_steps[k] - at[inner] * steps[k];
    at[inner] = 0;
    at[lines] += count;
    for (int d = lines; d >= 0 && at[d] == plan.shape[d]; --d) {
      for (int k = 0; k < N; ++k) offsets[k] -= at[d] * plan.strides[k][d];
      at[d] = 0;
      if (d == 0) break;
      ++at[d - 1];
      for (int k = 0; k < N; ++k) offsets[k] += plan.strides[k][d - 1];
    }
  }
}

// A tile of transposed elements: enough lines to fill cache lines, and rows long enough for loops.
inline constexpr int64_t kTile = 32;
inline constexpr int64_t kTileBytes = 16384;

// Find a dimension along which an operand is dense, if walking rows would touch a new cache line
// for each of its elements; -1 if row order is right.
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

// Visit bands of kTile steps along the dimension `lines`, in pieces of the innermost one. Operands
// that are dense along `lines` are transposed into a buffer, so that the task reads every operand
// by rows.
template <int N>
class TileWalk {
 public:
  TileWalk(const RowTask<N>& task, const Plan<N>& plan, int lines, void* const* data)
      : task_(task), plan_(plan), lines_(lines), inner_(plan.ndim - 1), data_(data) {
    width_ = kTileBytes / kTile;
    for (int k = 1; k < N; ++k) {
      transposed_[k] = plan.strides[k][lines] == 1 && plan.strides[k][inner_] > 1;
      const int64_t fits = kTileBytes / kTile / task.element_sizes[k];
      if (transposed_[k] && fits < width_) width_ = fits;
    }
  }

  int64_t bands() const { return (plan_.shape[lines_] + kTile - 1) / kTile; }

  void run(int64_t begin, int64_t end) const {
    for (int64_t band = begin; band < end; ++band) {
      int64_t base[N] = {};
      int64_t rest = band / bands();
      for (int d = inner_ - 1; d >= 0; --d) {
        if (d == lines_) continue;
        const int64_t at = rest % plan_.shape[d];
        rest /= plan_.shape[d];
        for (int k = 0; k < N; ++k) base[k] += at * plan_.strides[k][d];
      }
      const int64_t first = band % bands() * kTile;
      const int64_t left = plan_.shape[lines_] - first;
      for (int k = 0; k < N; ++k) base[k] += first * plan_.strides[k][lines_];
      run_band(base, left < kTile ? left : kTile);
    }
  }

 private:
  void run_band(const int64_t* base, int64_t lines) const {
    alignas(64) char buffers[N][kTileBytes];
    void* data[N];
    int64_t steps[N];
    int64_t line_steps[N];
    for (int k = 0; k < N; ++k) {
      steps[k] = transposed_[k] ? 1 : plan_.strides[k][inner_];
      line_steps[k] = transposed_[k] ? width_ : plan_.strides[k][lines_];
    }
    const int64_t columns = plan_.shape[inner_];
    for (int64_t c = 0; c < columns; c += width_) {
      const int64_t n = columns - c < width_ ? columns - c : width_;
      for (int k = 0; k < N; ++k) {
        const int64_t step = plan_.strides[k][inner_];
        data[k] = static_cast<char*>(data_[k]) + (base[k] + c * step) * task_.element_sizes[k];
        if (!transposed_[k]) continue;
        transpose_tile(task_.element_sizes[k], buffers[k], width_, data[k], step, lines, n);
        data[k] = buffers[k];
      }
      task_.run(task_.functor, {lines, n, steps, line_steps}, data);
    }
  }

  const RowTask<N>& task_;
  const Plan<N>& plan_;
  int lines_;
  int inner_;
  void* const* data_;
  bool transposed_[N] = {};
  int64_t width_;  // elements of a row of a tile
};

// Operands that are broadcast, strided or transposed.
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
    const TileWalk<N> walk(task, plan, lines, data);
    const int64_t per_band = kTile * plan.shape[plan.ndim - 1];
    launch.parallel_for(plan.numel / (plan.shape[lines] * plan.shape[plan.ndim - 1]) * walk.bands(),
                        grain_for(per_band),
                        [&](int64_t begin, int64_t end) { walk.run(begin, end); });
  } else {
    launch.parallel_for(plan.numel, kParallelGrain, [&](int64_t begin, int64_t end) {
      walk_rows(task, plan, data, begin, end);
    });
  }
  return diopiSuccess;
}

}  // namespace detail

// refs[0] is the output. Most calls have contiguous operands of one shape, perhaps with single
// elements among them; these need no plan.
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
    if (out.numel != 0) task.run(task.functor, {1, out.numel, steps, steps}, data);
    return diopiSuccess;
  }
  const Launch launch(ctx);
  if (!flat) return detail::run_planned(launch, op, task, refs, data);
  detail::run_flat<N>(launch, task, out.numel, data, steps);
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_WALK_H_
