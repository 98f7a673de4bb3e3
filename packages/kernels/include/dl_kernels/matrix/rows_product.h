// Products of rows with a weight, by the vendor's library or by the kernels, for fused layers.
#ifndef DL_KERNELS_MATRIX_ROWS_PRODUCT_H_
#define DL_KERNELS_MATRIX_ROWS_PRODUCT_H_

#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/matrix/matrix_calls.h"

DL_KERNELS_BEGIN

template <class T>
struct RepeatRowItem {
  T* to;
  const T* row;
  int64_t columns, step;
  DL_FN void operator()(int64_t i) const { to[i] = row[i % columns * step]; }
};

// c [m, n] = a [m, k] · b [k, n], plus a row if `bias` is not null. With a bias, c must be
// contiguous.
template <class T>
void rows_product(const Launch& launch, int64_t m, int64_t n, int64_t k, Matrix<const T> a,
                  Matrix<const T> b, const T* bias, int64_t bias_step, Matrix<T> c) {
  if (m == 0 || n == 0) return;
  const MatrixBatch<const void> left{a.data, 0, a.row, a.column}, right{b.data, 0, b.row, b.column};
  const MatrixBatch<void> to{c.data, 0, c.row, c.column};
  const bool plain = bias == nullptr || bias_step == 1;
  constexpr diopiDtype_t kDtype = dtype_of<T>();
  if (plain && matmul_by_library(launch, {kDtype, kDtype, 1, m, n, k, 1, 0, left, right, to, bias}))
    return;
  using C = compute_t<T>;
#if defined(DL_KERNELS_GEMM_BATCH)
  if (plain) {
    gemm_batch<T>(launch, 1, m, n, k, C(1), {a, 0}, {b, 0}, C(0), {c, 0}, bias,
                  launch.matmul_precision());
    return;
  }
#endif
  if (bias != nullptr) each(launch, m * n, 1, RepeatRowItem<T>{c.data, bias, n, bias_step});
  batched_gemm<T>(launch, 1, m, n, k, C(1), a, 0, b, 0, C(bias == nullptr ? 0 : 1), c, 0);
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_ROWS_PRODUCT_H_
