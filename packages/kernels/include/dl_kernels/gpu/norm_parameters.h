// GPU: what the gradients of a norm's weight and bias are added up from.
#ifndef DL_KERNELS_GPU_NORM_PARAMETERS_H_
#define DL_KERNELS_GPU_NORM_PARAMETERS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/vectors.h"
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
  C* parts;  // for each piece: of the weight, then of the bias
  RowPieces pieces;
  bool in_vectors;

  DL_DEVICE void operator()(int64_t item) const {
    const int64_t k = item / vectors, i = (item - k * vectors) * kWide;
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

}  // namespace gpu

template <class T>
void norm_parameter_parts(const Launch& launch, const NormShape& shape, const RowPieces& pieces,
                          const NormRows<T>& rows, compute_t<T>* parts) {
  using Item = gpu::NormParameterItem<T>;
  const int64_t n = shape.width, vectors = (n + Item::kWide - 1) / Item::kWide;
  const bool aligned = n % Item::kWide == 0 && gpu::is_aligned(rows.grad_output, Item::kWide) &&
                       gpu::is_aligned(rows.in, Item::kWide);
  each(launch, vectors * pieces.count, pieces.each, Item{rows, n, vectors, parts, pieces, aligned});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_NORM_PARAMETERS_H_
