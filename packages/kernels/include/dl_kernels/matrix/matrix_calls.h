// Batched matrix products, by the vendor's library or by the kernels.
#ifndef DL_KERNELS_MATRIX_MATRIX_CALLS_H_
#define DL_KERNELS_MATRIX_MATRIX_CALLS_H_

#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/library.h"
#include "dl_kernels/matrix/gemm.h"
#include "dl_kernels/matrix/integer_gemm.h"

DL_KERNELS_BEGIN

template <class T>
Matrix<T> matrix_of(const TensorRef& tensor, int64_t offset = 0) {
  const int64_t d = tensor.ndim - 2;
  return {tensor.as<T>() + offset, tensor.strides[d], tensor.strides[d + 1]};
}

// out = alpha · a · b + beta · out for each of `batch` pairs of matrices, in the precision that the
// user has set.
template <class T>
void batched_gemm(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k,
                  compute_t<T> alpha, Matrix<const T> a, int64_t a_step, Matrix<const T> b,
                  int64_t b_step, compute_t<T> beta, Matrix<T> c, int64_t c_step) {
#if defined(DL_KERNELS_GEMM_BATCH)
  gemm_batch<T, T>(launch, batch, m, n, k, alpha, {a, a_step}, {b, b_step}, beta, {c, c_step},
                   nullptr, launch.matmul_precision());
  return;
#endif
  if (batch == 1) {
    gemm<T>(launch, m, n, k, alpha, a, b, beta, c);
    return;
  }
  launch.parallel_for(batch, grain_for(m * n * (k < 1 ? 1 : k)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      gemm<T>(launch, m, n, k, alpha, Matrix<const T>{a.data + i * a_step, a.row, a.column},
              Matrix<const T>{b.data + i * b_step, b.row, b.column}, beta,
              Matrix<T>{c.data + i * c_step, c.row, c.column});
    }
  });
}

template <class Data>
MatrixBatch<Data> batch_of(const TensorRef& tensor) {
  const int64_t d = tensor.ndim - 2;
  return {tensor.data, d == 0 ? 0 : tensor.strides[0], tensor.strides[d], tensor.strides[d + 1]};
}

inline bool by_library(const Launch& launch, const GemmCall& call) {
  return library.gemm != nullptr && call.k > 0 && call.alpha != 0 && library.gemm(launch, call);
}

// The same in the precision that the user has set.
inline bool matmul_by_library(const Launch& launch, GemmCall call) {
  if (library.gemm == nullptr) return false;
  call.precision = launch.matmul_precision();
  return by_library(launch, call);
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_MATRIX_CALLS_H_
