// C = alpha · A · B + beta · C for matrices of any strides. The seam that a vendor with a matrix library fills with its
// own; on the CPU there is one of ours.
#ifndef DL_KERNELS_GEMM_H_
#define DL_KERNELS_GEMM_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/launch.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

// A matrix in memory: element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;

  DL_FN Matrix transposed() const { return {data, column, row}; }
};

DL_KERNELS_END

#if !DL_KERNELS_GPU
#include "dl_kernels/cpu/gemm.h"
#endif

#endif  // DL_KERNELS_GEMM_H_
