// GPU: rows that are normalised by their own mean and deviation, or by their root mean square, and
// the gradients of that. For layer, root-mean-square and group normalisation.
#ifndef DL_KERNELS_GPU_NORM_ROWS_H_
#define DL_KERNELS_GPU_NORM_ROWS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/held_rows.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/norm/norm_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

// `ByChannel`: each channel of a group has a weight and a bias, not each element of a row.
template <class T, bool ByChannel>
struct NormForward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>, kHeld = held_elements<C>(32);
  NormOutput<T> to;
  NormAffine<C> affine;
  const T* in;
  C eps;

  DL_DEVICE void operator()(const Block& team, const RowCut& cut, int64_t row, bool live) const {
    T* y = to.out + row * cut.n;
    const T* x = in + row * cut.n;
    if (cut.held) {
      compute_held(team, cut, row, y, x, live);
    } else {
      compute_long(team, cut, row, y, x, live);
    }
  }

 private:
  DL_DEVICE void save(const Block& team, int64_t row, C mean, C scale, bool live) const {
    if (team.lane() != 0 || !live) return;
    if (to.mean != nullptr) to.mean[row] = mean;
    if (to.invstd != nullptr) to.invstd[row] = scale;
  }

  // A group, of which x are the deviations from the mean.
  template <class V>
  DL_DEVICE void put(const Groups<kWide>& groups, int64_t row, T* y, V v, C scale,
                     C (&x)[kWide]) const {
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) x[j] *= scale;
    if constexpr (ByChannel) {
      by_channel(groups, row, v, x);
    } else {
      C other[kWide] = {};
      if (affine.weight != nullptr) {
        groups.load(affine.weight, 1, v, other);
        DL_UNROLL
        for (int j = 0; j < kWide; ++j) x[j] *= other[j];
      }
      if (affine.bias != nullptr) {
        groups.load(affine.bias, 1, v, other);
        DL_UNROLL
        for (int j = 0; j < kWide; ++j) x[j] += other[j];
      }
    }
    groups.store(y, 1, v, x);
  }

  DL_DEVICE void by_channel(const Groups<kWide>& groups, int64_t row, int64_t v,
                            C (&x)[kWide]) const {
    const int64_t first = remainder_of(row, affine.groups) * affine.group_channels;
    const bool one = groups.cut.vectors && affine.positions % kWide == 0;
    C w = 1, b = 0;
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) {
      const int64_t i = groups.place(v, j);
      if (i >= groups.cut.n) break;
      if (j == 0 || !one) {
        const int64_t c = first + quotient_of(i, affine.positions);
        if (affine.weight != nullptr) w = affine.weight[c];
        if (affine.bias != nullptr) b = affine.bias[c];
      }
      x[j] = x[j] * w + b;
    }
  }

  DL_DEVICE void compute_held(const Block& team, const RowCut& cut, int64_t row, T* y, const T* x,
                              bool live) const {
    constexpr int kGroups = kHeld / kWide;
    const Groups<kWide> groups{team, cut};
    const C count = static_cast<C>(cut.n);
    C held[kGroups][kWide];
    C sum = 0, mean = 0;
    groups.template few<kGroups>([&](int v) {
      fill(held[v], C(0));
      groups.load(x, 1, v, held[v]);
      sum += sum_of(held[v]);
    });
    if (affine.centred) mean = sum_of_team(team, sum) / count;
    C squares = 0;
    groups.template few<kGroups>([&](int v) {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        held[v][j] -= mean;
        // Behind the end of the row nothing deviates.
        if (cut.vectors ? groups.has(v, 0) : groups.has(v, j)) squares += held[v][j] * held[v][j];
      }
    });
    const C variance = sum_of_team(team, squares) / count;
    const C scale = C(1) / std::sqrt(variance + eps);
    save(team, row, mean, scale, live);
    if (live) {
      groups.template few<kGroups>([&](int v) { put(groups, row, y, v, scale, held[v]); });
    }
  }

  DL_DEVICE void compute_long(const Block& team, const RowCut& cut, int64_t row, T* y, const T* x,
                              bool live) const {
    const Groups<kWide> groups{team, cut};
    const C count = static_cast<C>(cut.n);
    C mean = 0;
    if (affine.centred) {
      LongSum<C> sum;
      groups.all([&](int64_t v) {
        C some[kWide] = {};
        groups.load(x, 1, v, some);
        sum.add(sum_of(some));
      });
      mean = sum_of_team(team, sum.total()) / count;
    }
    const auto load_deviations = [&](int64_t v, C(&some)[kWide]) {
      fill(some, mean);
      groups.load(x, 1, v, some);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) some[j] -= mean;
    };
    LongSum<C> squares;
    groups.all([&](int64_t v) {
      C some[kWide];
      load_deviations(v, some);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) some[j] *= some[j];
      squares.add(sum_of(some));
    });
    const C variance = sum_of_team(team, squares.total()) / count;
    const C scale = C(1) / std::sqrt(variance + eps);
    save(team, row, mean, scale, live);
    if (!live) return;
    groups.all([&](int64_t v) {
      C some[kWide];
      load_deviations(v, some);
      put(groups, row, y, v, scale, some);
    });
  }
};

// grad_input = r · (g − mean(g) − x̂ · mean(g · x̂)) with g = grad_output · weight, x̂ = (x − mean) ·
// r and without mean(g) where rows are not centred.
template <class T>
struct NormBackward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>, kHeld = held_elements<C>(16);
  T* grad_input;
  NormRows<T> rows;

  DL_DEVICE void operator()(const Block& team, const RowCut& cut, int64_t row, bool live) const {
    const C mean = rows.mean == nullptr ? C(0) : rows.mean[row], scale = rows.invstd[row];
    const T* go = rows.grad_output + row * cut.n;
    const T* x = rows.in + row * cut.n;
    T* to = grad_input + row * cut.n;
    const Groups<kWide> groups{team, cut};
    // The gradient times the weight, and x̂; zeros behind the end of the row.
    const auto load = [&](auto v, C(&g)[kWide], C(&h)[kWide]) {
      fill(g, C(0));
      fill(h, mean);
      groups.load(go, 1, v, g);
      groups.load(x, 1, v, h);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) h[j] = (h[j] - mean) * scale;
      if (rows.weight == nullptr) return;
      C w[kWide] = {};
      groups.load(rows.weight, 1, v, w);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) g[j] *= w[j];
    };
    const auto sums_of = [&](const C(&g)[kWide], const C(&h)[kWide]) {
      Pair<C> sums{0, 0};
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        sums.first += g[j];
        sums.second += g[j] * h[j];
      }
      return sums;
    };
    const auto put = [&](auto v, C(&g)[kWide], const C(&h)[kWide], const Pair<C>& means) {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) g[j] = scale * (g[j] - means.first - h[j] * means.second);
      groups.store(to, 1, v, g);
    };
    if (cut.held) {
      constexpr int kGroups = kHeld / kWide;
      C g[kGroups][kWide], h[kGroups][kWide];
      Pair<C> sums{0, 0};
      groups.template few<kGroups>([&](int v) {
        load(v, g[v], h[v]);
        const Pair<C> more = sums_of(g[v], h[v]);
        sums.first += more.first;
        sums.second += more.second;
      });
      const Pair<C> means = means_of(team, cut, sums);
      if (live) groups.template few<kGroups>([&](int v) { put(v, g[v], h[v], means); });
      return;
    }
    LongSum<C> first, second;
    C g[kWide], h[kWide];
    groups.all([&](int64_t v) {
      load(v, g, h);
      const Pair<C> more = sums_of(g, h);
      first.add(more.first);
      second.add(more.second);
    });
    const Pair<C> means = means_of(team, cut, {first.total(), second.total()});
    if (!live) return;
    groups.all([&](int64_t v) {
      load(v, g, h);
      put(v, g, h, means);
    });
  }

 private:
  DL_DEVICE Pair<C> means_of(const Block& team, const RowCut& cut, const Pair<C>& sums) const {
    const Pair<C> all = team.together(sums, [](const Pair<C>& a, const Pair<C>& b) {
      return Pair<C>{a.first + b.first, a.second + b.second};
    });
    const C count = static_cast<C>(cut.n);
    return {rows.mean == nullptr ? C(0) : all.first / count, all.second / count};
  }
};

template <class C>
bool all_aligned(int elements, const C* a, const C* b) {
  return is_aligned(a, elements) && is_aligned(b, elements);
}

}  // namespace gpu

template <class T, bool ByChannel>
void norm_rows(const Launch& launch, const NormShape& shape, const NormOutput<T>& to, const T* in,
               const NormAffine<compute_t<T>>& affine, compute_t<T> eps) {
  using Row = gpu::NormForward<T, ByChannel>;
  bool aligned = gpu::all_aligned<T>(Row::kWide, to.out, in);
  if (!ByChannel) aligned &= gpu::all_aligned(Row::kWide, affine.weight, affine.bias);
  gpu::run_held_rows(launch, gpu::row_cut<T, Row::kHeld>(shape.rows, shape.width, aligned),
                     Row{to, affine, in, eps});
}

template <class T>
void norm_rows_backward(const Launch& launch, const NormShape& shape, T* grad_input,
                        const NormRows<T>& rows) {
  using Row = gpu::NormBackward<T>;
  const bool aligned = gpu::all_aligned<T>(Row::kWide, grad_input, rows.in) &&
                       gpu::is_aligned(rows.grad_output, Row::kWide) &&
                       gpu::is_aligned(rows.weight, Row::kWide);
  gpu::run_held_rows(launch, gpu::row_cut<T, Row::kHeld>(shape.rows, shape.width, aligned),
                     Row{grad_input, rows});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NORM_ROWS_H_
