// CPU: integer products are rare, so this loop is simple rather than fast.
#ifndef DL_KERNELS_CPU_INTEGER_GEMM_H_
#define DL_KERNELS_CPU_INTEGER_GEMM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

template <class T>
void integer_gemm(const Launch&, int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                  Matrix<const T> b, T beta, Matrix<T> c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T total = 0;
      for (int64_t l = 0; l < k; ++l) {
        total = wrap_add(
            total, wrap_mul(a.data[i * a.row + l * a.column], b.data[l * b.row + j * b.column]));
      }
      T* to = c.data + i * c.row + j * c.column;
      *to = wrap_add(wrap_mul(alpha, total), beta == 0 ? T(0) : wrap_mul(beta, *to));
    }
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_INTEGER_GEMM_H_
