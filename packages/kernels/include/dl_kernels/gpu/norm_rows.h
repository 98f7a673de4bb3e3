// GPU: normalization of rows by their mean and standard deviation, or by their root mean square,
// and its gradients. For layer, RMS and group normalization.
#ifndef DL_KERNELS_GPU_NORM_ROWS_H_
#define DL_KERNELS_GPU_NORM_ROWS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/norm_vector.h"
#include "dl_kernels/gpu/register_rows.h"
#include "dl_kernels/norm/norm_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

// `ByChannel`: weight and bias have an element per channel of a group instead of per element of a
// row.
template <class T, bool ByChannel>
struct NormForward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>;
  NormOutput<T> to;
  NormAffine<T> affine;
  const T* in;
  int64_t width;
  C eps;

  // Part of a row that belongs to a thread.
  struct RowPart {
    int64_t row;
    T* y;
    const T* x;
    NormParameter<T> weight, bias;
  };

  template <int kW, int kL>
  DL_DEVICE RowPart open(const Groups<kW, kL>& groups, int64_t row) const {
    return {row, groups.begin(to.out + row * width, 1), groups.begin(in + row * width, 1),
            begin_of(groups, affine.weight), begin_of(groups, affine.bias)};
  }

  template <bool kShort, int kW, int kL>
  DL_DEVICE void process_in_registers(const Block& team, const Groups<kW, kL>& groups,
                                      const RowPart& at, bool live) const {
    constexpr int kGroups = register_groups<C, kW, kShort>();
    C held[kGroups][kW];
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber group) { groups.load(at.x, 1, group, held[v]); });
    C mean = 0;
    if (affine.centered) {
      C sum = 0;
      groups.template for_each_unrolled<kGroups>(
          [&](int v, GroupNumber) { sum += sum_of(held[v]); });
      mean = sum_of_lanes(team, sum) / static_cast<C>(width);
    }
    C squares = 0;
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber group) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) {
        held[v][j] -= mean;
        squares += held[v][j] * held[v][j];
      }
    });
    const C scale = scale_of(sum_of_lanes(team, squares));
    save(team, at.row, mean, scale, live);
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber group) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) held[v][j] *= scale;
      put(groups, at, !affine.bias.is_none(), group, held[v]);
    });
  }

  template <int kW, int kL>
  DL_DEVICE void process_long(const Block& team, const Groups<kW, kL>& groups, const RowPart& at,
                              bool live) const {
    const auto load = [&](GroupNumber group, C(&some)[kW]) { groups.load(at.x, 1, group, some); };
    C mean = 0;
    if (affine.centered) {
      LongSum<C> sum;
      groups.template for_each<C[kW]>(
          load, [&](GroupNumber, const C(&some)[kW]) { sum.add(sum_of(some)); });
      mean = sum_of_lanes(team, sum.total()) / static_cast<C>(width);
    }
    LongSum<C> squares;
    groups.template for_each<C[kW]>(load, [&](GroupNumber, C(&some)[kW]) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) some[j] = (some[j] - mean) * (some[j] - mean);
      squares.add(sum_of(some));
    });
    const C scale = scale_of(sum_of_lanes(team, squares.total()));
    save(team, at.row, mean, scale, live);
    const C shift = -mean * scale;
    const auto write = [&](bool biased, GroupNumber group, C(&some)[kW]) {
      DL_UNROLL
      for (int j = 0; j < kW; ++j) some[j] = some[j] * scale + shift;
      put(groups, at, biased, group, some);
    };
    // Separate loops, so that the one without a bias is short.
    if (affine.bias.is_none()) {
      groups.template for_each<C[kW]>(
          load, [&](GroupNumber group, C(&some)[kW]) { write(false, group, some); });
    } else {
      groups.template for_each<C[kW]>(
          load, [&](GroupNumber group, C(&some)[kW]) { write(true, group, some); });
    }
  }

 private:
  DL_DEVICE C scale_of(C squares) const {
    return C(1) / std::sqrt(squares / static_cast<C>(width) + eps);
  }

  DL_DEVICE void save(const Block& team, int64_t row, C mean, C scale, bool live) const {
    if (team.lane() != 0 || !live) return;
    if (to.mean != nullptr) to.mean[row] = mean;
    if (to.invstd != nullptr) to.invstd[row] = scale;
  }

  // A group of already normalized elements.
  template <int kW, int kL>
  DL_DEVICE void put(const Groups<kW, kL>& groups, const RowPart& at, bool biased,
                     GroupNumber group, C (&x)[kW]) const {
    if constexpr (ByChannel) {
      // All elements of a group belong to one channel.
      const int64_t first = remainder_of(at.row, affine.groups) * affine.group_channels;
      const int64_t channel = first + quotient_of(groups.index(group), affine.positions);
      const C w = affine.weight.is_none() ? C(1) : affine.weight.at(channel);
      const C b = biased ? affine.bias.at(channel) : C(0);
      DL_UNROLL
      for (int j = 0; j < kW; ++j) x[j] = x[j] * w + b;
    } else {
      C other[kW];
      if (!affine.weight.is_none()) {
        load_parameter<T>(groups, at.weight, group, other);
        DL_UNROLL
        for (int j = 0; j < kW; ++j) x[j] *= other[j];
      }
      if (biased) {
        load_parameter<T>(groups, at.bias, group, other);
        DL_UNROLL
        for (int j = 0; j < kW; ++j) x[j] += other[j];
      }
    }
    groups.store(at.y, 1, group, x);
  }
};

// grad_input = r · (g − mean(g) − x̂ · mean(g · x̂)) with g = grad_output · weight and x̂ = (x −
// mean) · r; without mean(g) if rows are not centered.
template <class T>
struct NormBackward {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>;
  T* grad_input;
  NormRows<T> rows;
  int64_t width;

  // Part of a row that belongs to a thread.
  struct RowPart {
    C mean, scale;
    T* to;
    const T* grad_output;
    const T* x;
    NormParameter<T> weight;
  };
  // The gradient times the weight, and x̂.
  template <int kW>
  struct Both {
    C g[kW], h[kW];
  };

  template <int kW, int kL>
  DL_DEVICE RowPart open(const Groups<kW, kL>& groups, int64_t row) const {
    const int64_t at = row * width;
    return {rows.mean == nullptr ? C(0) : rows.mean[row],
            rows.invstd[row],
            groups.begin(grad_input + at, 1),
            groups.begin(rows.grad_output + at, 1),
            groups.begin(rows.in + at, 1),
            begin_of(groups, rows.weight)};
  }

  template <bool kShort, int kW, int kL>
  DL_DEVICE void process_in_registers(const Block& team, const Groups<kW, kL>& groups,
                                      const RowPart& at, bool) const {
    constexpr int kGroups = register_groups<C, kW, kShort>();
    Both<kW> held[kGroups];
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber group) { load(groups, at, group, held[v]); });
    Pair<C> sums{0, 0};
    groups.template for_each_unrolled<kGroups>([&](int v, GroupNumber group) {
      prepare(groups, at, group, held[v]);
      const Pair<C> more = sums_of(held[v]);
      sums.first += more.first;
      sums.second += more.second;
    });
    const Pair<C> means = means_of(team, sums);
    groups.template for_each_unrolled<kGroups>(
        [&](int v, GroupNumber group) { put(groups, at, group, held[v], means); });
  }

  template <int kW, int kL>
  DL_DEVICE void process_long(const Block& team, const Groups<kW, kL>& groups, const RowPart& at,
                              bool) const {
    const auto load_both = [&](GroupNumber group, Both<kW>& x) { load(groups, at, group, x); };
    LongSum<C> first, second;
    groups.template for_each<Both<kW>>(load_both, [&](GroupNumber group, Both<kW>& x) {
      prepare(groups, at, group, x);
      const Pair<C> more = sums_of(x);
      first.add(more.first);
      second.add(more.second);
    });
    const Pair<C> means = means_of(team, {first.total(), second.total()});
    groups.template for_each<Both<kW>>(load_both, [&](GroupNumber group, Both<kW>& x) {
      prepare(groups, at, group, x);
      put(groups, at, group, x, means);
    });
  }

 private:
  template <int kW, int kL>
  DL_DEVICE void load(const Groups<kW, kL>& groups, const RowPart& at, GroupNumber group,
                      Both<kW>& x) const {
    groups.load(at.grad_output, 1, group, x.g);
    groups.load(at.x, 1, group, x.h);
  }
  template <int kW, int kL>
  DL_DEVICE void prepare(const Groups<kW, kL>& groups, const RowPart& at, GroupNumber group,
                         Both<kW>& x) const {
    DL_UNROLL
    for (int j = 0; j < kW; ++j) x.h[j] = (x.h[j] - at.mean) * at.scale;
    if (rows.weight.is_none()) return;
    C w[kW];
    load_parameter<T>(groups, at.weight, group, w);
    DL_UNROLL
    for (int j = 0; j < kW; ++j) x.g[j] *= w[j];
  }
  template <int kW>
  DL_DEVICE Pair<C> sums_of(const Both<kW>& x) const {
    Pair<C> sums{0, 0};
    DL_UNROLL
    for (int j = 0; j < kW; ++j) {
      sums.first += x.g[j];
      sums.second += x.g[j] * x.h[j];
    }
    return sums;
  }
  template <int kW, int kL>
  DL_DEVICE void put(const Groups<kW, kL>& groups, const RowPart& at, GroupNumber group,
                     Both<kW>& x, const Pair<C>& means) const {
    DL_UNROLL
    for (int j = 0; j < kW; ++j) x.g[j] = at.scale * (x.g[j] - means.first - x.h[j] * means.second);
    groups.store(at.to, 1, group, x.g);
  }
  DL_DEVICE Pair<C> means_of(const Block& team, const Pair<C>& sums) const {
    const Pair<C> all = team.all_reduce(sums, [](const Pair<C>& a, const Pair<C>& b) {
      return Pair<C>{a.first + b.first, a.second + b.second};
    });
    const C count = static_cast<C>(width);
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
               const NormAffine<T>& affine, compute_t<T> eps) {
  using Row = gpu::NormForward<T, ByChannel>;
  bool aligned = gpu::all_aligned<T>(Row::kWide, to.out, in);
  if (ByChannel) {
    aligned &= affine.positions % Row::kWide == 0;
  } else {
    aligned &=
        gpu::is_aligned(affine.weight, Row::kWide) && gpu::is_aligned(affine.bias, Row::kWide);
  }
  gpu::run_register_rows(launch,
                         gpu::row_partition<T, Row::kWide>(shape.rows, shape.width, aligned),
                         Row{to, affine, in, shape.width, eps});
}

template <class T>
void norm_rows_backward(const Launch& launch, const NormShape& shape, T* grad_input,
                        const NormRows<T>& rows) {
  using Row = gpu::NormBackward<T>;
  const bool aligned = gpu::all_aligned<T>(Row::kWide, grad_input, rows.in) &&
                       gpu::is_aligned(rows.grad_output, Row::kWide) &&
                       gpu::is_aligned(rows.weight, Row::kWide);
  gpu::run_register_rows(launch,
                         gpu::row_partition<T, Row::kWide>(shape.rows, shape.width, aligned),
                         Row{grad_input, rows, shape.width});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NORM_ROWS_H_
