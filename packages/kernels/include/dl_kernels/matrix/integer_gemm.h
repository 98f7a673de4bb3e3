// Matrix products of integers, which wrap, in the backend's implementation: integer_gemm, with the
// interface of gemm.
#ifndef DL_KERNELS_MATRIX_INTEGER_GEMM_H_
#define DL_KERNELS_MATRIX_INTEGER_GEMM_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/integer_gemm.h"
#else
#include "dl_kernels/cpu/integer_gemm.h"
#endif

#endif  // DL_KERNELS_MATRIX_INTEGER_GEMM_H_
