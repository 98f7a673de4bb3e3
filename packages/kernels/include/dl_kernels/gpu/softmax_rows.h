// GPU: all softmax kernels. Contiguous rows are kept in registers or read twice; for strided rows,
// consecutive threads read adjacent rows.
#ifndef DL_KERNELS_GPU_SOFTMAX_ROWS_H_
#define DL_KERNELS_GPU_SOFTMAX_ROWS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/column_reduction.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/register_rows.h"
#include "dl_kernels/gpu/softmax_parts.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T, class O>
struct SoftmaxForward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>;
  O* out;
  const T* in;
  DimPlan<2> plan;
  bool log;

  // Part of a row that belongs to a thread.
  struct RowPart {
    O* y;
    const T* x;
  };

  template <int kW, int kL>
  DL_DEVICE RowPart open(const Groups<kW, kL>& groups, int64_t row) const {
    int64_t offsets[2];
    row_offsets(plan.rows, row, offsets);
    return {groups.begin(out + offsets[0], plan.step[0]),
            groups.begin(in + offsets[1], plan.step[1])};
  }

  template <bool kShort, int kW, int kL>
  DL_DEVICE void process_in_registers(const Block& team, const Groups<kW, kL>& groups,
                                      const RowPart& at, bool) const {
    constexpr int kGroups = register_groups<C, kW, kShort>();
    C held[kGroups][kW];
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber group) { groups.load(at.x, plan.step[1], group, held[v]); });
    C row_max = lowest<C>();
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber) { row_max = max_ignoring_nan(row_max, max_of(held[v])); });
    row_max = team.all_reduce(row_max, [](C a, C b) { return max_ignoring_nan(a, b); });
    ExponentialSum<C> mine;
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber) {
      C exponentials[kW];
      DL_UNROLL
      for (int j = 0; j < kW; ++j) held[v][j] -= row_max;
      mine.add(held[v], log, exponentials);
      DL_UNROLL
      for (int j = 0; j < kW; ++j) held[v][j] = log ? held[v][j] : exponentials[j];
    });
    const ExponentialSum<C> all = team.all_reduce(mine, AddExponentialSums{});
    const C scale = log ? C(1) : C(1) / all.total(), shift = log ? all.log() : C(0);
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber group) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) held[v][j] = held[v][j] * scale - shift;
      groups.store(at.y, plan.step[0], group, held[v]);
    });
  }

  template <int kW, int kL>
  DL_DEVICE void process_long(const Block& team, const Groups<kW, kL>& groups, const RowPart& at,
                              bool) const {
    const auto load = [&](GroupNumber group, C(&some)[kW]) {
      groups.load(at.x, plan.step[1], group, some);
    };
    OnlineSoftmax<C> mine;
    groups.template for_each<C[kW]>(load,
                                    [&](GroupNumber, const C(&some)[kW]) { mine.add(some, log); });
    const OnlineSoftmax<C> all = team.all_reduce(mine, JoinSoftmax{});
    const C scale = log ? all.normalizer.log() : C(1) / all.normalizer.total();
    groups.template for_each<C[kW]>(load, [&](GroupNumber group, C(&some)[kW]) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) {
        const C shifted = some[j] - all.running_max;
        some[j] = log ? shifted - scale : math::exp(shifted) * scale;
      }
      groups.store(at.y, plan.step[0], group, some);
    });
  }
};

// Row `row` is shared by the lines of a block.
template <class T, class O>
struct SoftmaxForwardColumns {
  using C = compute_t<T>;
  O* out;
  const T* in;
  DimPlan<2> plan;
  bool log;

  DL_DEVICE void operator()(const ColumnGroup& team, int64_t row, bool live) const {
    int64_t offsets[2];
    row_offsets(plan.rows, row, offsets);
    O* y = out + offsets[0];
    const T* x = in + offsets[1];
    OnlineSoftmax<C> mine;
    team.map(plan.n, [&](int64_t i) {
      const C some[1] = {cast<C>(x[i * plan.step[1]])};
      mine.add(some, log);
    });
    const OnlineSoftmax<C> all = team.all_reduce(mine, JoinSoftmax{});
    const C scale = log ? all.normalizer.log() : C(1) / all.normalizer.total();
    if (!live) return;
    team.map(plan.n, [&](int64_t i) {
      const C shifted = cast<C>(x[i * plan.step[1]]) - all.running_max;
      y[i * plan.step[0]] = cast<O>(log ? shifted - scale : math::exp(shifted) * scale);
    });
  }
};

// grad_input = (g - Σ g·y)·y, or g - exp(y)·Σ g for log-softmax.
template <class T, class I>
struct SoftmaxBackward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>;
  I* grad_input;
  const T* grad_output;
  const T* output;
  DimPlan<3> plan;
  bool log;

  // Part of a row that belongs to a thread.
  struct RowPart {
    I* to;
    const T* g;
    const T* y;
  };
  template <int kW>
  struct Both {
    C g[kW], y[kW];
  };

  DL_DEVICE C term(C g, C y) const { return log ? g : g * y; }
  DL_DEVICE static C slope(bool log, C g, C y, C total) {
    return log ? g - math::exp(y) * total : (g - total) * y;
  }

  template <int kW, int kL>
  DL_DEVICE RowPart open(const Groups<kW, kL>& groups, int64_t row) const {
    int64_t offsets[3];
    row_offsets(plan.rows, row, offsets);
    return {groups.begin(grad_input + offsets[0], plan.step[0]),
            groups.begin(grad_output + offsets[1], plan.step[1]),
            groups.begin(output + offsets[2], plan.step[2])};
  }

  template <bool kShort, int kW, int kL>
  DL_DEVICE void process_in_registers(const Block& team, const Groups<kW, kL>& groups,
                                      const RowPart& at, bool) const {
    constexpr int kGroups = register_groups<C, kW, kShort>();
    Both<kW> held[kGroups];
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber group) { load(groups, at, group, held[v]); });
    C sum = 0;
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber) { sum += sum_of_terms(held[v]); });
    const C total = sum_of_lanes(team, sum);
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber group) {
      if (log) {
        put<true>(groups, at, group, held[v], total);
      } else {
        put<false>(groups, at, group, held[v], total);
      }
    });
  }

  template <int kW, int kL>
  DL_DEVICE void process_long(const Block& team, const Groups<kW, kL>& groups, const RowPart& at,
                              bool) const {
    const auto load_both = [&](GroupNumber group, Both<kW>& x) { load(groups, at, group, x); };
    LongSum<C> sum;
    groups.template for_each<Both<kW>>(
        load_both, [&](GroupNumber, const Both<kW>& x) { sum.add(sum_of_terms(x)); });
    const C total = sum_of_lanes(team, sum.total());
    // Separate loops, so that the cheaper one is as short as possible.
    if (log) {
      groups.template for_each<Both<kW>>(load_both, [&](GroupNumber group, Both<kW>& x) {
        put<true>(groups, at, group, x, total);
      });
    } else {
      groups.template for_each<Both<kW>>(load_both, [&](GroupNumber group, Both<kW>& x) {
        put<false>(groups, at, group, x, total);
      });
    }
  }

 private:
  template <int kW, int kL>
  DL_DEVICE void load(const Groups<kW, kL>& groups, const RowPart& at, GroupNumber group,
                      Both<kW>& x) const {
    groups.load(at.g, plan.step[1], group, x.g);
    groups.load(at.y, plan.step[2], group, x.y);
  }
  template <int kW>
  DL_DEVICE C sum_of_terms(const Both<kW>& x) const {
    C sum = 0;
    DL_UNROLL
    for (int j = 0; j < kW; ++j) sum += term(x.g[j], x.y[j]);
    return sum;
  }
  template <bool kLog, int kW, int kL>
  DL_DEVICE void put(const Groups<kW, kL>& groups, const RowPart& at, GroupNumber group,
                     Both<kW>& x, C total) const {
    DL_UNROLL
    for (int j = 0; j < kW; ++j) x.g[j] = slope(kLog, x.g[j], x.y[j], total);
    groups.store(at.to, plan.step[0], group, x.g);
  }
};

template <class T, class I>
struct SoftmaxBackwardColumns {
  using C = compute_t<T>;
  SoftmaxBackward<T, I> rows;

  DL_DEVICE void operator()(const ColumnGroup& team, int64_t row, bool live) const {
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
    const C total = team.all_reduce(sum.total(), [](C a, C b) { return a + b; });
    if (!live) return;
    team.map(plan.n, [&](int64_t i) {
      to[i * plan.step[0]] = cast<I>(
          rows.slope(rows.log, cast<C>(g[i * plan.step[1]]), cast<C>(y[i * plan.step[2]]), total));
    });
  }
};

// Return true if adjacent rows are adjacent in memory, but a row's elements are not.
template <int N>
bool is_interleaved(const DimPlan<N>& plan) {
  return plan.step[N - 1] != 1 && plan.rows.strides[N - 1][plan.rows.ndim - 1] == 1;
}

}  // namespace gpu

template <class T, class O, bool Log>
void softmax_rows(const Launch& launch, const DimPlan<2>& plan, O* out, const T* in) {
  using Row = gpu::SoftmaxForward<T, O>;
  if (gpu::is_interleaved(plan)) {
    gpu::run_columns(launch, plan.rows.numel, plan.n,
                     gpu::SoftmaxForwardColumns<T, O>{out, in, plan, Log});
    return;
  }
  bool aligned = plan.step[0] == 1 && plan.step[1] == 1 && gpu::is_aligned(in, Row::kWide) &&
                 gpu::is_aligned(out, Row::kWide);
  for (int d = 0; d < plan.rows.ndim; ++d) {
    aligned &= plan.rows.shape[d] == 1 || (plan.rows.strides[0][d] % Row::kWide == 0 &&
                                           plan.rows.strides[1][d] % Row::kWide == 0);
  }
  gpu::run_register_rows(launch,
                         gpu::row_partition<T, Row::kWide>(plan.rows.numel, plan.n, aligned),
                         Row{out, in, plan, Log});
}

template <class T, class I, bool Log>
void softmax_backward_rows(const Launch& launch, const DimPlan<3>& plan, I* grad_input,
                           const T* grad_output, const T* output) {
  using Row = gpu::SoftmaxBackward<T, I>;
  const Row row{grad_input, grad_output, output, plan, Log};
  if (gpu::is_interleaved(plan)) {
    gpu::run_columns(launch, plan.rows.numel, plan.n, gpu::SoftmaxBackwardColumns<T, I>{row});
    return;
  }
  bool aligned = gpu::is_aligned(grad_input, Row::kWide) && gpu::is_aligned(output, Row::kWide) &&
                 gpu::is_aligned(grad_output, Row::kWide);
  for (int k = 0; k < 3; ++k) {
    aligned &= plan.step[k] == 1;
    for (int d = 0; d < plan.rows.ndim; ++d)
      aligned &= plan.rows.shape[d] == 1 || plan.rows.strides[k][d] % Row::kWide == 0;
  }
  gpu::run_register_rows(launch,
                         gpu::row_partition<T, Row::kWide>(plan.rows.numel, plan.n, aligned), row);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SOFTMAX_ROWS_H_
