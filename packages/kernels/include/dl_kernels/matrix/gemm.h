// C = alpha · A · B + beta · C for matrices of any strides. A vendor with a matrix library replaces
// it here: DL_KERNELS_GEMM names a header that defines `gemm` with the same interface.
#ifndef DL_KERNELS_MATRIX_GEMM_H_
#define DL_KERNELS_MATRIX_GEMM_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/matrix/matrix.h"

#if defined(DL_KERNELS_GEMM)
#include DL_KERNELS_GEMM
#elif DL_KERNELS_GPU
#include "dl_kernels/gpu/gemm.h"
#else
#include "dl_kernels/cpu/gemm.h"
#endif

#endif  // DL_KERNELS_MATRIX_GEMM_H_
