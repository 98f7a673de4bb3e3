// GPU: the floating-point kernel template also serves integers.
#ifndef DL_KERNELS_GPU_INTEGER_GEMM_H_
#define DL_KERNELS_GPU_INTEGER_GEMM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/matrix/gemm.h"

DL_KERNELS_BEGIN

template <class T>
void integer_gemm(const Launch& launch, int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                  Matrix<const T> b, T beta, Matrix<T> c) {
  gemm<T>(launch, m, n, k, alpha, a, b, beta, c);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_INTEGER_GEMM_H_
