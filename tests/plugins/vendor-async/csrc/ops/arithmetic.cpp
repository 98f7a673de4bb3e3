#include <cmath>
#include <type_traits>

#include "ops/elementwise.h"
#include "ops/ops.h"
#include "ops/scalar.h"

namespace dl::async_test {
namespace {

// Integers wrap, as on every device; in C++ only unsigned ones do.
template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <typename T>
T negate(T a) {
  return multiply(a, T{-1});
}

struct Divide {
  diopiRoundMode_t mode;

  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw Error(DL_INVALID_ARGUMENT, "integer division by zero");
      if (b == -1) return negate(a);
      const T quotient = a / b;
      const bool inexact = quotient * b != a;
      return mode == RoundModeFloor && inexact && (a < 0) != (b < 0) ? quotient - 1 : quotient;
    } else {
      const T quotient = a / b;
      if (mode == RoundModeTrunc) return std::trunc(quotient);
      // Like torch's CPU: infinities have no remainder, so their floor is not a number.
      if (mode == RoundModeFloor) return std::isinf(a) && b != 0 ? a - a : std::floor(quotient);
      return quotient;
    }
  }
};

/** Without rounding the quotient of integers is a fraction, which an integer output cannot take. */
bool can_divide(diopiConstTensorHandle_t out, diopiRoundMode_t mode) {
  diopiDtype_t dtype = diopi_dtype_unsupported;
  diopiGetTensorDtype(out, &dtype);
  return mode != RoundModeNone || is_floating(dtype);
}

}  // namespace

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return combine(ctx, "diopiAdd", out, input, other, [factor = Scalar(alpha)](auto a, auto b) {
    return add(a, multiply(b, factor.as<decltype(b)>()));
  });
}

diopiError_t diopiAddInp(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                         diopiConstTensorHandle_t other, const diopiScalar_t* alpha) {
  return async_test::diopiAdd(ctx, input, input, other, alpha);
}

diopiError_t diopiAddScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other,
                            const diopiScalar_t* alpha) {
  return map(ctx, "diopiAddScalar", out, input,
             [term = Scalar(other), factor = Scalar(alpha)](auto a) {
               using T = decltype(a);
               return add(a, multiply(term.as<T>(), factor.as<T>()));
             });
}

diopiError_t diopiAddInpScalar(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                               const diopiScalar_t* other, const diopiScalar_t* alpha) {
  return async_test::diopiAddScalar(ctx, input, input, other, alpha);
}

diopiError_t diopiSub(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return combine(ctx, "diopiSub", out, input, other, [factor = Scalar(alpha)](auto a, auto b) {
    return add(a, negate(multiply(b, factor.as<decltype(b)>())));
  });
}

diopiError_t diopiSubInp(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                         diopiConstTensorHandle_t other, const diopiScalar_t* alpha) {
  return async_test::diopiSub(ctx, input, input, other, alpha);
}

diopiError_t diopiSubScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other,
                            const diopiScalar_t* alpha) {
  return map(ctx, "diopiSubScalar", out, input,
             [term = Scalar(other), factor = Scalar(alpha)](auto a) {
               using T = decltype(a);
               return add(a, negate(multiply(term.as<T>(), factor.as<T>())));
             });
}

diopiError_t diopiSubInpScalar(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                               const diopiScalar_t* other, const diopiScalar_t* alpha) {
  return async_test::diopiSubScalar(ctx, input, input, other, alpha);
}

diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return combine(ctx, "diopiMul", out, input, other, [](auto a, auto b) { return multiply(a, b); });
}

diopiError_t diopiMulInp(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                         diopiConstTensorHandle_t other) {
  return async_test::diopiMul(ctx, input, input, other);
}

diopiError_t diopiMulScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other) {
  return map(ctx, "diopiMulScalar", out, input,
             [factor = Scalar(other)](auto a) { return multiply(a, factor.as<decltype(a)>()); });
}

diopiError_t diopiMulInpScalar(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                               const diopiScalar_t* other) {
  return async_test::diopiMulScalar(ctx, input, input, other);
}

diopiError_t diopiDiv(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      diopiRoundMode_t rounding_mode) {
  if (!can_divide(out, rounding_mode)) return diopiDtypeNotSupported;
  return combine(ctx, "diopiDiv", out, input, other, Divide{rounding_mode});
}

diopiError_t diopiDivInp(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                         diopiConstTensorHandle_t other, diopiRoundMode_t rounding_mode) {
  return async_test::diopiDiv(ctx, input, input, other, rounding_mode);
}

diopiError_t diopiDivScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other,
                            diopiRoundMode_t rounding_mode) {
  if (!can_divide(out, rounding_mode)) return diopiDtypeNotSupported;
  return map(ctx, "diopiDivScalar", out, input,
             [divisor = Scalar(other), divide = Divide{rounding_mode}](auto a) {
               return divide(a, divisor.as<decltype(a)>());
             });
}

diopiError_t diopiDivInpScalar(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                               const diopiScalar_t* other, diopiRoundMode_t rounding_mode) {
  return async_test::diopiDivScalar(ctx, input, input, other, rounding_mode);
}

diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return map(ctx, "diopiNeg", out, input, [](auto a) { return negate(a); });
}

}  // namespace dl::async_test
