#ifndef DL_ASYNC_TEST_OPS_ELEMENTWISE_H_
#define DL_ASYNC_TEST_OPS_ELEMENTWISE_H_

#include <type_traits>
#include <utility>

#include "ops/dtypes.h"
#include "ops/launch.h"

namespace dl::async_test {

/** out[i] = op(input[i]) in the type of `out`, one of float32, float64, int64. */
template <typename Op>
diopiError_t map(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                 diopiConstTensorHandle_t input, Op op) {
  const Launch launch(ctx, name);
  const TensorView to = launch.view(out);
  const TensorView from = launch.view(input).broadcast_to(to.sizes);
  if (!is_computed(to.dtype) || !is_numeric(from.dtype)) return diopiDtypeNotSupported;
  launch.enqueue([to, from, op] {
    with_computed(to.dtype, [&](auto zero) {
      using T = decltype(zero);
      walk<2>(to.sizes, {&to.strides, &from.strides},
              [&](const auto& at) { store<T>(to, at[0], op(load<T>(from, at[1]))); });
    });
  });
  return diopiSuccess;
}

/** Like map, for operators with fractional results. */
template <typename Op>
diopiError_t map_floating(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                          diopiConstTensorHandle_t input, Op op) {
  diopiDtype_t dtype = diopi_dtype_unsupported;
  diopiGetTensorDtype(out, &dtype);
  if (!is_floating(dtype)) return diopiDtypeNotSupported;
  return map(ctx, name, out, input, [op](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) {
      return op(x);
    } else {
      return x;
    }
  });
}

/** out[i] = op(a[i], b[i]) with broadcasting, in the type of `out`. */
template <typename Op>
diopiError_t combine(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t a, diopiConstTensorHandle_t b, Op op) {
  const Launch launch(ctx, name);
  const TensorView to = launch.view(out);
  const TensorView left = launch.view(a).broadcast_to(to.sizes);
  const TensorView right = launch.view(b).broadcast_to(to.sizes);
  if (!is_computed(to.dtype) || !is_numeric(left.dtype) || !is_numeric(right.dtype))
    return diopiDtypeNotSupported;
  launch.enqueue([to, left, right, op] {
    with_computed(to.dtype, [&](auto zero) {
      using T = decltype(zero);
      walk<3>(to.sizes, {&to.strides, &left.strides, &right.strides}, [&](const auto& at) {
        store<T>(to, at[0], op(load<T>(left, at[1]), load<T>(right, at[2])));
      });
    });
  });
  return diopiSuccess;
}

}  // namespace dl::async_test

#endif
