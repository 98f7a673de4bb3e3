// Products of matrices by cuBLASLt, where it is installed and takes them.
#ifndef DL_CUDA_LIBRARY_GEMM_H_
#define DL_CUDA_LIBRARY_GEMM_H_

#include <cstdint>
#include <functional>

namespace dl::cuda {

// Element (i, j) of matrix b is data[b * step + i * row + j * column].
struct Matrices {
  const void* data;
  int64_t step, row, column;
};

// c = alpha · a · b + beta · c, as kernels::GemmCall has it.
struct Gemm {
  int dtype, out_dtype;  // diopiDtype_t
  int64_t batch, m, n, k;
  double alpha, beta;
  Matrices a, b, c;
  const void* bias;  // n elements for every row of c, or null
  bool tf32;         // factors of float32 may be rounded to TF32
  void* stream;
  std::function<void*(int64_t bytes)> workspace;  // on the device, for the length of the call
};

// False, and nothing was written: the library is not there, is switched off, or does not take it.
bool gemm_by_library(const Gemm& call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_GEMM_H_
