// CPU: layer normalization of rows so short that horizontal sums would dominate: a group of rows is
// transposed, so that each lane has one.
#ifndef DL_KERNELS_CPU_LAYER_NORM_COLUMNS_H_
#define DL_KERNELS_CPU_LAYER_NORM_COLUMNS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/softmax_columns.h"
#include "dl_kernels/norm/scaled_norm.h"

DL_KERNELS_BEGIN

namespace detail {

// Normalize `width` rows across the lanes; return false if the sums of a row are not exact enough.
template <class T, class C>
__attribute__((noinline)) bool layer_norm_columns(int64_t n, T* out, const T* in, C* mean,
                                                  C* invstd, const C* weight, const C* bias, C eps,
                                                  int64_t width) {
  constexpr int64_t kStep = kSoftmaxColumns;
  alignas(64) C mu[kStep] = {}, scale[kStep] = {};
  for (int64_t i = 0; i < n; ++i) {
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) mu[j] += cast<C>(in[i * kStep + j]);
  }
  const C count = static_cast<C>(n);
  DL_VECTOR_LOOP
  for (int64_t j = 0; j < width; ++j) mu[j] /= count;
  for (int64_t i = 0; i < n; ++i) {
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      const C distance = cast<C>(in[i * kStep + j]) - mu[j];
      scale[j] += distance * distance;
    }
  }
  bool exact = true;
  for (int64_t j = 0; j < width; ++j) {
    const C variance = scale[j] / count + eps;
    exact = exact && sum_is_exact(variance);
    scale[j] = C(1) / std::sqrt(variance);
  }
  if (!exact) return false;
  for (int64_t i = 0; i < n; ++i) {
    const C w = weight == nullptr ? C(1) : weight[i], b = bias == nullptr ? C(0) : bias[i];
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      out[i * kStep + j] = cast<T>((cast<C>(in[i * kStep + j]) - mu[j]) * scale[j] * w + b);
    }
  }
  for (int64_t j = 0; j < width; ++j) {
    if (mean != nullptr) mean[j] = mu[j];
    if (invstd != nullptr) invstd[j] = scale[j];
  }
  return true;
}

}  // namespace detail

// Rows for which horizontal sums would dominate.
inline bool has_short_rows(int64_t rows, int64_t n) {
  return n > 1 && n <= detail::kShortSoftmax && rows >= 8;
}

// `kernel(block, row)` normalizes a row on its own.
template <class T, class Kernel>
void layer_norm_short_rows(const Launch& launch, int64_t rows, const Kernel& kernel) {
  using namespace detail;
  using C = compute_t<T>;
  const int64_t n = kernel.n, groups = (rows + kSoftmaxColumns - 1) / kSoftmaxColumns;
  launch.parallel_for(groups, grain_for(3 * n * kSoftmaxColumns), [&](int64_t begin, int64_t end) {
    ShortRows<T> x, y;
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * kSoftmaxColumns, left = rows - first;
      const int64_t width = left < kSoftmaxColumns ? left : kSoftmaxColumns;
      const T* const from = x.read(kernel.in + first * n, n, n, width);
      C* const mean = kernel.mean == nullptr ? nullptr : kernel.mean + first;
      C* const invstd = kernel.invstd == nullptr ? nullptr : kernel.invstd + first;
      if (layer_norm_columns(n, y.data(), from, mean, invstd, kernel.weight, kernel.bias,
                             kernel.eps, width)) {
        y.write(kernel.out + first * n, n, n, width);
      } else {
        const Block block;
        for (int64_t row = first; row < first + width; ++row) kernel(block, row);
      }
    }
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_LAYER_NORM_COLUMNS_H_
