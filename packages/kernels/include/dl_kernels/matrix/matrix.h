// A strided view of a matrix.
#ifndef DL_KERNELS_MATRIX_MATRIX_H_
#define DL_KERNELS_MATRIX_MATRIX_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// Element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;

  DL_FN Matrix transposed() const { return {data, column, row}; }
};

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_MATRIX_H_
