// GPU: all softmaxes. Rows of neighbours stay in registers or are read twice; where elements of a
// row lie apart, threads lie across neighbouring rows.
#ifndef DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_
#define DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/column_team.h"
#include "dl_kernels/gpu/held_rows.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/softmax_parts.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T, class O>
struct SoftmaxForward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>, kHeld = held_elements<C>(32);
  O* out;
  const T* in;
  DimPlan<2> plan;
  bool log;

  DL_DEVICE void operator()(const Block& team, const RowCut& cut, int64_t row, bool live) const {
    int64_t offsets[2];
    row_offsets(plan.rows, row, offsets);
    O* y = out + offsets[0];
    const T* x = in + offsets[1];
    if (cut.held) {
      compute_held(team, cut, y, x, live);
    } else {
      compute_long(team, cut, y, x, live);
    }
  }

 private:
  DL_DEVICE void compute_held(const Block& team, const RowCut& cut, O* y, const T* x,
                              bool live) const {
    constexpr int kGroups = kHeld / kWide;
    const Groups<kWide> groups{team, cut};
    C held[kGroups][kWide];
    C top = lowest<C>();
    groups.template few<kGroups>([&](int v) {
      fill(held[v], lowest<C>());
      groups.load(x, plan.step[1], v, held[v]);
      top = higher(top, highest_of(held[v]));
    });
    top = team.together(top, [](C a, C b) { return higher(a, b); });
    C sum = 0;
    groups.template few<kGroups>([&](int v) {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        held[v][j] -= top;
        const C power = math::exp(held[v][j]);
        held[v][j] = log ? held[v][j] : power;
        sum += power;
      }
    });
    sum = sum_of_team(team, sum);
    const C scale = log ? C(1) : C(1) / sum, shift = log ? math::log(sum) : C(0);
    if (!live) return;
    groups.template few<kGroups>([&](int v) {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) held[v][j] = held[v][j] * scale - shift;
      groups.store(y, plan.step[0], v, held[v]);
    });
  }

  DL_DEVICE void compute_long(const Block& team, const RowCut& cut, O* y, const T* x,
                              bool live) const {
    const Groups<kWide> groups{team, cut};
    Softened<C> mine;
    groups.all([&](int64_t v) {
      C some[kWide];
      fill(some, lowest<C>());
      groups.load(x, plan.step[1], v, some);
      mine.add(some);
    });
    const Softened<C> all = team.together(mine, Join{});
    const C scale = log ? math::log(all.sum) : C(1) / all.sum;
    if (!live) return;
    groups.all([&](int64_t v) {
      C some[kWide] = {};
      groups.load(x, plan.step[1], v, some);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        const C shifted = some[j] - all.top;
        some[j] = log ? shifted - scale : math::exp(shifted) * scale;
      }
      groups.store(y, plan.step[0], v, some);
    });
  }
};

// Item `row` is shared by the lines of a block.
template <class T, class O>
struct SoftmaxForwardColumns {
  using C = compute_t<T>;
  O* out;
  const T* in;
  DimPlan<2> plan;
  bool log;

  DL_DEVICE void operator()(const ColumnTeam& team, int64_t row, bool live) const {
    int64_t offsets[2];
    row_offsets(plan.rows, row, offsets);
    O* y = out + offsets[0];
    const T* x = in + offsets[1];
    Softened<C> mine;
    team.map(plan.n, [&](int64_t i) {
      const C some[1] = {cast<C>(x[i * plan.step[1]])};
      mine.add(some);
    });
    const Softened<C> all = team.together(mine, Join{});
    const C scale = log ? math::log(all.sum) : C(1) / all.sum;
    if (!live) return;
    team.map(plan.n, [&](int64_t i) {
      const C shifted = cast<C>(x[i * plan.step[1]]) - all.top;
      y[i * plan.step[0]] = cast<O>(log ? shifted - scale : math::exp(shifted) * scale);
    });
  }
};

// grad_input = (g - Σ g·y)·y, or g - exp(y)·Σ g of a logarithm.
template <class T, class I>
struct SoftmaxBackward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>, kHeld = held_elements<C>(16);
  I* grad_input;
  const T* grad_output;
  const T* output;
  DimPlan<3> plan;
  bool log;

  DL_DEVICE C term(C g, C y) const { return log ? g : g * y; }
  DL_DEVICE C slope(C g, C y, C total) const {
    return log ? g - math::exp(y) * total : (g - total) * y;
  }

  DL_DEVICE void operator()(const Block& team, const RowCut& cut, int64_t row, bool live) const {
    int64_t offsets[3];
    row_offsets(plan.rows, row, offsets);
    I* to = grad_input + offsets[0];
    const T* g = grad_output + offsets[1];
    const T* y = output + offsets[2];
    const Groups<kWide> groups{team, cut};
    const auto load = [&](auto v, C(&a)[kWide], C(&b)[kWide]) {
      fill(a, C(0));
      fill(b, C(0));
      groups.load(g, plan.step[1], v, a);
      groups.load(y, plan.step[2], v, b);
    };
    const auto sum_up = [&](const C(&a)[kWide], const C(&b)[kWide]) {
      C sum = 0;
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) sum += term(a[j], b[j]);
      return sum;
    };
    const auto put = [&](auto v, C(&a)[kWide], const C(&b)[kWide], C total) {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) a[j] = slope(a[j], b[j], total);
      groups.store(to, plan.step[0], v, a);
    };
    if (cut.held) {
      constexpr int kGroups = kHeld / kWide;
      C a[kGroups][kWide], b[kGroups][kWide], sum = 0;
      groups.template few<kGroups>([&](int v) {
        load(v, a[v], b[v]);
        sum += sum_up(a[v], b[v]);
      });
      const C total = sum_of_team(team, sum);
      if (live) groups.template few<kGroups>([&](int v) { put(v, a[v], b[v], total); });
      return;
    }
    C a[kWide], b[kWide];
    LongSum<C> sum;
    groups.all([&](int64_t v) {
      load(v, a, b);
      sum.add(sum_up(a, b));
    });
    const C total = sum_of_team(team, sum.total());
    if (!live) return;
    groups.all([&](int64_t v) {
      load(v, a, b);
      put(v, a, b, total);
    });
  }
};

template <class T, class I>
struct SoftmaxBackwardColumns {
  using C = compute_t<T>;
  SoftmaxBackward<T, I> rows;

  DL_DEVICE void operator()(const ColumnTeam& team, int64_t row, bool live) const {
    const DimPlan<3>& plan = rows.plan;
    int64_t offsets[3];
    row_offsets(plan.rows, row, offsets);
    I* to = rows.grad_input + offsets[0];
    const T* g = rows.grad_output + offsets[1];
    const T* y = rows.output + offsets[2];
    LongSum<C> sum;
    team.map(plan.n, [&](int64_t i) {
      sum.add(rows.term(cast<C>(g[i * plan.step[1]]), cast<C>(y[i * plan.step[2]])));
    });
    const C total = team.together(sum.total(), [](C a, C b) { return a + b; });
    if (!live) return;
    team.map(plan.n, [&](int64_t i) {
      to[i * plan.step[0]] =
          cast<I>(rows.slope(cast<C>(g[i * plan.step[1]]), cast<C>(y[i * plan.step[2]]), total));
    });
  }
};

// Neighbouring rows are neighbours in memory, and a row's elements are not.
template <int N>
bool lies_across(const DimPlan<N>& plan) {
  return plan.step[N - 1] != 1 && plan.rows.strides[N - 1][plan.rows.ndim - 1] == 1;
}

}  // namespace gpu

template <class T, class O, bool Log>
bool softmax_by_columns(const Launch& launch, const DimPlan<2>& plan, O* out, const T* in) {
  using Row = gpu::SoftmaxForward<T, O>;
  if (gpu::lies_across(plan)) {
    gpu::run_columns(launch, plan.rows.numel, plan.n,
                     gpu::SoftmaxForwardColumns<T, O>{out, in, plan, Log});
    return true;
  }
  bool aligned = plan.step[0] == 1 && plan.step[1] == 1 && gpu::is_aligned(in, Row::kWide) &&
                 gpu::is_aligned(out, Row::kWide);
  for (int d = 0; d < plan.rows.ndim; ++d) {
    aligned &= plan.rows.shape[d] == 1 || (plan.rows.strides[0][d] % Row::kWide == 0 &&
                                           plan.rows.strides[1][d] % Row::kWide == 0);
  }
  gpu::run_held_rows(launch, gpu::row_cut<T, Row::kHeld>(plan.rows.numel, plan.n, aligned),
                     Row{out, in, plan, Log});
  return true;
}

template <class T, class I, bool Log>
bool softmax_backward_by_columns(const Launch& launch, const DimPlan<3>& plan, I* grad_input,
                                 const T* grad_output, const T* output) {
  using Row = gpu::SoftmaxBackward<T, I>;
  const Row row{grad_input, grad_output, output, plan, Log};
  if (gpu::lies_across(plan)) {
    gpu::run_columns(launch, plan.rows.numel, plan.n, gpu::SoftmaxBackwardColumns<T, I>{row});
    return true;
  }
  bool aligned = gpu::is_aligned(grad_input, Row::kWide) && gpu::is_aligned(output, Row::kWide) &&
                 gpu::is_aligned(grad_output, Row::kWide);
  for (int k = 0; k < 3; ++k) {
    aligned &= plan.step[k] == 1;
    for (int d = 0; d < plan.rows.ndim; ++d)
      aligned &= plan.rows.shape[d] == 1 || plan.rows.strides[k][d] % Row::kWide == 0;
  }
  gpu::run_held_rows(launch, gpu::row_cut<T, Row::kHeld>(plan.rows.numel, plan.n, aligned), row);
  return true;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SOFTMAX_COLUMNS_H_
