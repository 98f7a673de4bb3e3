// GPU matrix product without a library. Its kernels are compiled once for all families, in
// parts/gemm.inc.
#ifndef DL_KERNELS_GPU_GEMM_H_
#define DL_KERNELS_GPU_GEMM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/matmul_precision.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/matrix/matrix.h"

// gemm_batch is available in addition to gemm.
#define DL_KERNELS_GEMM_BATCH 1

DL_KERNELS_BEGIN

// A batch of matrices with the stride `step` between them.
template <class T>
struct SteppedMatrix {
  Matrix<T> matrix;
  int64_t step;
};

// C = alpha · A · B + beta · C + bias for every matrix of a batch, in one launch. C must not
// overlap A or B. k may be 0. A and B have the element type T. C has type O: T or, for half
// precision, its compute type. C is not read if beta is 0. The bias has n contiguous elements,
// added to every row of C, or is null. `precision` applies to float32.
template <class T, class O = T, class C = compute_t<T>>
void gemm_batch(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k, C alpha,
                SteppedMatrix<const T> a, SteppedMatrix<const T> b, C beta, SteppedMatrix<O> c,
                const O* bias = nullptr, MatmulPrecision precision = MatmulPrecision::kFloat32);

template <class T, class O = T, class C = compute_t<T>>
void gemm(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
          Matrix<const T> b, C beta, Matrix<O> c) {
  gemm_batch<T, O, C>(launch, 1, m, n, k, alpha, {a, 0}, {b, 0}, beta, {c, 0});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_GEMM_H_
