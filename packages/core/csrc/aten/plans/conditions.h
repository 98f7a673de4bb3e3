// Conditions that the table names in `before_plan` and `after_plan`. If a condition does not hold,
// the call goes to the fallback, whose kernel raises the error if the call is invalid.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "aten/plans/stored_scalar.h"
#include "contract/dtype.h"

namespace dl::core::conditions {

// Checks the operands before any conversion.
inline bool not_bool(const at::Tensor& self, const at::Tensor& other) {
  return self.scalar_type() != at::kBool && other.scalar_type() != at::kBool;
}
inline bool not_complex(const at::Tensor& self) { return !self.is_complex(); }
template <typename... Others>
bool same_dtype(const at::Tensor& first, const Others&... others) {
  return (... && (first.dtype() == others.dtype()));
}
// Return true unless an out= tensor has a different dtype, to which these operators do not convert.
inline bool keeps_dtype(const at::Tensor& given, const at::Tensor& self) {
  return !given.defined() || given.dtype() == self.dtype();
}
inline bool same_sizes(const at::Tensor& first, const at::Tensor& other) {
  return first.sizes() == other.sizes();
}

// Return true for a factor that can scale operands of `type`. The contract has no complex scalars.
inline bool alpha_fits(c10::ScalarType type, const at::Scalar& alpha) {
  if (C10_LIKELY(c10::isFloatingType(type)) || c10::isComplexType(type))
    return !alpha.isComplex() && !alpha.isBoolean();
  return c10::isIntegralType(type, false) && alpha.isIntegral(false) && plans::holds(type, alpha);
}

// torch does not support dividing integers by integers here.
inline bool divides_numbers(const at::Tensor& dividend, const at::Tensor& divisor) {
  return !c10::isIntegralType(dividend.scalar_type(), true) ||
         !c10::isIntegralType(divisor.scalar_type(), true);
}
// A mean of integers needs an explicit dtype; the dtype of an output does not count.
inline bool mean_has_dtype(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  return dtype || c10::isFloatingType(self.scalar_type());
}

// Returns true if `type` can represent `value`; checks half-precision dtypes only. Kernels convert
// to wider dtypes themselves, with the same check of bounds for all operators.
inline bool is_in_range(c10::ScalarType type, const at::Scalar& value) {
  return (type != at::kHalf && type != at::kBFloat16) || plans::holds(type, value);
}

// Return true for a scalar that is compared with elements of `type`, or replaces them.
inline bool bound_fits(c10::ScalarType type, const at::Scalar& bound) {
  if (c10::isIntegralType(type, false) ? !bound.isIntegral(true) : bound.isComplex()) return false;
  return plans::holds(type, bound);
}
inline bool both_bounds_fit(c10::ScalarType type, const at::Scalar& first,
                            const at::Scalar& second) {
  return bound_fits(type, first) && bound_fits(type, second);
}
// Returns true if there is at least one bound and every bound fits.
inline bool clamp_bounds_fit(c10::ScalarType type, const std::optional<at::Scalar>& min,
                             const std::optional<at::Scalar>& max) {
  return (min || max) && (!min || bound_fits(type, *min)) && (!max || bound_fits(type, *max));
}

// Integers have neither negative nor fractional powers.
inline bool power_fits(c10::ScalarType type, const at::Scalar& exponent) {
  if (c10::isFloatingType(type) || c10::isComplexType(type)) return !exponent.isComplex();
  return c10::isIntegralType(type, false) && exponent.isIntegral(false) && exponent.toLong() >= 0 &&
         plans::holds(type, exponent);
}

inline bool known_rounding(const std::optional<std::string_view>& mode) {
  return !mode || *mode == "trunc" || *mode == "floor";
}

// The gradient can be computed from the result only if elu is monotonic.
inline bool elu_invertible(bool is_result, const at::Scalar& alpha) {
  return !is_result || alpha.toDouble() >= 0;
}
// Range of the thresholds that torch allows.
inline bool shrinkage_fits(const at::Tensor& self, const at::Scalar& bound) {
  return bound.toDouble() >= 0 && bound.toDouble() <= largest_of(self.scalar_type());
}

inline bool not_negative(double value) { return value >= 0; }
inline bool is_probability(double value) { return value >= 0 && value <= 1; }

}  // namespace dl::core::conditions
