// Products of tensors of two or three dimensions, without broadcasting.
#ifndef DL_KERNELS_MATRIX_TENSOR_PRODUCT_H_
#define DL_KERNELS_MATRIX_TENSOR_PRODUCT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/copy.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/elementwise/pointwise.h"
#include "dl_kernels/matrix/batched_operand.h"
#include "dl_kernels/matrix/matrix_calls.h"
#include "dl_kernels/matrix/multiply.h"

DL_KERNELS_BEGIN

// Two or three dimensions; the shapes have been checked.
inline diopiError_t product(diopiContextHandle_t ctx, const TensorRef& out, const TensorRef& a,
                            const TensorRef& b, const diopiScalar_t& alpha,
                            const diopiScalar_t& beta) {
  if (out.numel == 0) return diopiSuccess;
  const int64_t d = out.ndim - 2;
  const int64_t batch = d == 0 ? 1 : out.sizes[0];
  const int64_t m = out.sizes[d], n = out.sizes[d + 1];
  // As in BLAS: operands scaled by an alpha of 0 are not read, even if they are infinite.
  const int64_t k = scalar_to<double>(alpha) == 0 ? 0 : a.sizes[d + 1];
  const Launch launch(ctx);
  if (matmul_by_library(launch, {out.dtype, out.dtype, batch, m, n, k, scalar_to<double>(alpha),
                                 scalar_to<double>(beta), batch_of<const void>(a),
                                 batch_of<const void>(b), batch_of<void>(out), nullptr}))
    return diopiSuccess;
  const auto step = [d](const TensorRef& tensor) {
    return d == 0 ? int64_t(0) : tensor.strides[0];
  };
  return dispatch<kNumbers | kComplexes>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    const auto x = matrix_of<const T>(a), y = matrix_of<const T>(b);
    const auto c = matrix_of<T>(out);
    if constexpr (kIsComplex<T>) {
      using R = real_t<T>;
      multiply_batch<T>(launch, batch, m, n, k, scalar_to<R>(alpha), {x, step(a)}, {y, step(b)},
                        scalar_to<R>(beta), c, step(out));
    } else if constexpr (kIsFloat<T>) {
      batched_gemm<T>(launch, batch, m, n, k, scalar_to<C>(alpha), x, step(a), y, step(b),
                      scalar_to<C>(beta), c, step(out));
    } else {
#if defined(DL_KERNELS_GEMM_BATCH)
      batched_gemm<T>(launch, batch, m, n, k, scalar_to<T>(alpha), x, step(a), y, step(b),
                      scalar_to<T>(beta), c, step(out));
#else
      const Launch launch(ctx);
      for (int64_t i = 0; i < batch; ++i) {
        integer_gemm<T>(launch, m, n, k, scalar_to<T>(alpha),
                        {x.data + i * step(a), x.row, x.column},
                        {y.data + i * step(b), y.row, y.column}, scalar_to<T>(beta),
                        {c.data + i * step(out), c.row, c.column});
      }
#endif
    }
    return diopiSuccess;
  });
}

// out = beta · input + alpha · a · b; `input` may be broadcast.
inline diopiError_t add_product(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t out,
                                diopiConstTensorHandle_t input, diopiConstTensorHandle_t a,
                                diopiConstTensorHandle_t b, const diopiScalar_t& beta,
                                const diopiScalar_t& alpha, int64_t ndim) {
  const TensorRef o = ref(out), base = ref(input), x = ref(a), y = ref(b);
  DL_TRY(check_product(op, o, x, y, ndim));
  if (base.dtype != o.dtype) return diopiDtypeNotSupported;
  if ((scalar_promotes(o.dtype, &beta) || scalar_promotes(o.dtype, &alpha))) {
    return fail(op, "alpha and beta must be integers for integral tensors");
  }
  // A bias row for every line of the output needs no separate pass.
  const bool is_row = ndim == 2 && base.ndim >= 1 && base.numel == o.sizes[1] && o.numel > 0 &&
                      base.sizes[base.ndim - 1] == o.sizes[1] && base.strides[base.ndim - 1] == 1 &&
                      scalar_to<double>(beta) == 1.0 && scalar_to<double>(alpha) == 1.0 &&
                      base.data != o.data;
  if (is_row &&
      matmul_by_library(Launch(ctx), {o.dtype, o.dtype, 1, o.sizes[0], o.sizes[1], x.sizes[1], 1, 0,
                                      batch_of<const void>(x), batch_of<const void>(y),
                                      batch_of<void>(o), base.data}))
    return diopiSuccess;
  const bool in_place = base.data == o.data && same_shape(base, o);
  if (!in_place && scalar_to<double>(beta) != 0.0) {
    DL_TRY(copy_elements(ctx, op, o, base));
  }
  return product(ctx, o, x, y, alpha, beta);
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_TENSOR_PRODUCT_H_
