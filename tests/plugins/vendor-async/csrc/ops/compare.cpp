#include <functional>

#include "ops/dtypes.h"
#include "ops/launch.h"
#include "ops/ops.h"
#include "ops/scalar.h"

namespace dl::async_test {
namespace {

/** Both sides in double if one is floating-point, else in int64, which double would round. */
template <typename Op>
diopiError_t compare(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t a, diopiConstTensorHandle_t b, Op op) {
  const Launch launch(ctx, name);
  const TensorView to = launch.view(out);
  const TensorView left = launch.view(a).broadcast_to(to.sizes);
  const TensorView right = launch.view(b).broadcast_to(to.sizes);
  if (to.dtype != diopi_dtype_bool || !is_numeric(left.dtype) || !is_numeric(right.dtype)) {
    return diopiDtypeNotSupported;
  }
  launch.enqueue([to, left, right, op] {
    const bool fractions = is_floating(left.dtype) || is_floating(right.dtype);
    walk<3>(to.sizes, {&to.strides, &left.strides, &right.strides}, [&](const auto& at) {
      store<bool>(to, at[0],
                  fractions ? op(load<double>(left, at[1]), load<double>(right, at[2]))
                            : op(load<int64_t>(left, at[1]), load<int64_t>(right, at[2])));
    });
  });
  return diopiSuccess;
}

template <typename Op>
diopiError_t compare_scalar(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other, Op op) {
  const Launch launch(ctx, name);
  const TensorView to = launch.view(out);
  const TensorView from = launch.view(input).broadcast_to(to.sizes);
  if (to.dtype != diopi_dtype_bool || !is_numeric(from.dtype)) return diopiDtypeNotSupported;
  launch.enqueue([to, from, op, bound = Scalar(other)] {
    const bool fractions = is_floating(from.dtype) || bound.floating();
    // A float32 tensor is compared in its own precision: 0.1f equals 0.1.
    const bool narrow = from.dtype == diopi_dtype_float32;
    const double fraction = narrow ? static_cast<double>(bound.as<float>()) : bound.as<double>();
    walk<2>(to.sizes, {&to.strides, &from.strides}, [&](const auto& at) {
      store<bool>(to, at[0],
                  fractions ? op(load<double>(from, at[1]), fraction)
                            : op(load<int64_t>(from, at[1]), bound.as<int64_t>()));
    });
  });
  return diopiSuccess;
}

}  // namespace

diopiError_t diopiEq(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return compare(ctx, "diopiEq", out, input, other, std::equal_to<>());
}

diopiError_t diopiEqScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                           diopiConstTensorHandle_t input, const diopiScalar_t* other) {
  return compare_scalar(ctx, "diopiEqScalar", out, input, other, std::equal_to<>());
}

diopiError_t diopiGt(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return compare(ctx, "diopiGt", out, input, other, std::greater<>());
}

diopiError_t diopiGtScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                           diopiConstTensorHandle_t input, const diopiScalar_t* other) {
  return compare_scalar(ctx, "diopiGtScalar", out, input, other, std::greater<>());
}

}  // namespace dl::async_test
