// GPU: gradients of a norm's weight and bias, which are column reductions over rows.
#ifndef DL_KERNELS_GPU_NORM_PARAMETERS_H_
#define DL_KERNELS_GPU_NORM_PARAMETERS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/column_reduction.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/norm/norm_rows.h"

DL_KERNELS_BEGIN

namespace gpu {

// Sums of grad_output · x̂ and of grad_output over the rows of a piece, for a few columns.
template <class T>
struct NormParameterItem {
  using C = compute_t<T>;
  static constexpr int kWide = kVector<T>;
  NormRows<T> rows;
  int64_t n, vectors;
  C* parts;  // for each piece: the weight's sums, then the bias's
  RowPieces pieces;
  bool in_vectors;

  DL_DEVICE void operator()(int64_t item) const {
    const int64_t k = quotient_of(item, vectors), i = (item - k * vectors) * kWide;
    const int64_t begin = pieces.begin(k), end = pieces.end(k);
    const int count = n - i < kWide ? static_cast<int>(n - i) : kWide;
    C by_weight[kWide] = {}, by_bias[kWide] = {};
    for (int64_t row = begin; row < end; ++row) {
      const C mean = rows.mean == nullptr ? C(0) : rows.mean[row], scale = rows.invstd[row];
      C g[kWide] = {}, x[kWide] = {};
      load_some(rows.grad_output + row * n + i, in_vectors, count, g);
      load_some(rows.in + row * n + i, in_vectors, count, x);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        by_weight[j] += g[j] * ((x[j] - mean) * scale);
        by_bias[j] += g[j];
      }
    }
    C* to = parts + k * 2 * n + i;
    store_some(to, false, count, by_weight);
    store_some(to + n, false, count, by_bias);
  }
};

// Columns 0 … n - 1 belong to the weight, all other columns to the bias.
template <class C>
struct NormParameterSum {
  C* weight;  // may be null
  C* bias;    // may be null
  const C* parts;
  int64_t n, pieces;

  DL_DEVICE void operator()(const ColumnGroup& team, int64_t column, bool live) const {
    double mine = 0;
    team.map(pieces, [&](int64_t k) { mine += static_cast<double>(parts[k * 2 * n + column]); });
    const double all = team.all_reduce(mine, [](double a, double b) { return a + b; });
    C* const to = column < n ? weight : bias;
    if (live && team.line() == 0 && to != nullptr)
      to[column < n ? column : column - n] = static_cast<C>(all);
  }
};

}  // namespace gpu

template <class T>
void norm_parameter_gradients(const Launch& launch, const NormShape& shape, const NormRows<T>& rows,
                              compute_t<T>* weight, compute_t<T>* bias) {
  using C = compute_t<T>;
  using Item = gpu::NormParameterItem<T>;
  const RowPieces pieces = row_pieces(shape);
  const int64_t n = shape.width, vectors = (n + Item::kWide - 1) / Item::kWide;
  const bool aligned = n % Item::kWide == 0 && gpu::is_aligned(rows.grad_output, Item::kWide) &&
                       gpu::is_aligned(rows.in, Item::kWide);
  const Workspace<C> parts(launch, pieces.count * 2 * n);
  each(launch, vectors * pieces.count, pieces.each,
       Item{rows, n, vectors, parts.data(), pieces, aligned});
  gpu::run_columns(launch, 2 * n, pieces.count,
                   gpu::NormParameterSum<C>{weight, bias, parts.data(), n, pieces.count});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NORM_PARAMETERS_H_
