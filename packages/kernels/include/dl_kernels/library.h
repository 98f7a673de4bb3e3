// Interface for libraries whose matrix products and convolutions are faster than the kernels here.
// A vendor with such a library sets these functions; each may decline a call without having written
// anything.
#ifndef DL_KERNELS_LIBRARY_H_
#define DL_KERNELS_LIBRARY_H_

#include <cstdint>

#include "diopi/types.gen.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/matmul_precision.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/conv/conv_shape.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Element (i, j) of matrix b is data[b * step + i * row + j * column].
template <class Data>
struct MatrixBatch {
  Data* data;
  int64_t step, row, column;

  MatrixBatch transposed() const { return {data, step, column, row}; }
};

// c = alpha · a · b + beta · c for `batch` pairs of m×k and k×n matrices; c is not read if beta is
// 0. No size is 0. `out_dtype`, the dtype of c and of the bias, is `dtype` or, for half precision,
// float32.
struct GemmCall {
  diopiDtype_t dtype, out_dtype;
  int64_t batch, m, n, k;
  double alpha, beta;
  MatrixBatch<const void> a, b;
  MatrixBatch<void> c;
  const void* bias;  // n elements added to every row of c, or null
  MatmulPrecision precision = MatmulPrecision::kFloat32;
};

struct Library {
  bool (*gemm)(const Launch& launch, const GemmCall& call) = nullptr;

  // Tensors have the same dtype and no dimension of size 0. `bias` and `grad_bias` may be null; if
  // a call with `grad_bias` is declined, it is repeated without it.
  bool (*convolve)(const Launch& launch, const ConvShape& shape, const TensorRef& out,
                   const TensorRef& input, const TensorRef& weight, const void* bias) = nullptr;
  // `grad_input` may be float32 when the other tensors are half precision.
  bool (*input_gradient)(const Launch& launch, const ConvShape& shape, const TensorRef& grad_input,
                         const TensorRef& grad_output, const TensorRef& weight) = nullptr;
  bool (*weight_gradient)(const Launch& launch, const ConvShape& shape,
                          const TensorRef& grad_weight, void* grad_bias,
                          const TensorRef& grad_output, const TensorRef& input) = nullptr;
};

// Set when the vendor's library is loaded, before any operator runs.
inline Library library;

DL_KERNELS_END

#endif  // DL_KERNELS_LIBRARY_H_
