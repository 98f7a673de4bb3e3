// C = alpha · A · B + beta · C for matrices of any strides. The seam that a vendor with a matrix
// library fills with its own; on the CPU there is one of ours.
#ifndef DL_KERNELS_GEMM_H_
#define DL_KERNELS_GEMM_H_

#include "dl_kernels/config.h"
#include "dl_kernels/matrix.h"

#if !DL_KERNELS_GPU
#include "dl_kernels/cpu/gemm.h"
#endif

#endif  // DL_KERNELS_GEMM_H_
