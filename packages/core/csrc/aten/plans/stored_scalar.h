// Scalars that are converted to elements of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "contract/handle.h"

namespace dl::core {
namespace plans {

// Returns true if torch converts the scalar to the dtype without an error.
bool holds(c10::ScalarType type, const at::Scalar& value);

// The value that elements of the dtype have after they are set to `value`. Empty if torch raises an
// error or double cannot represent the value.
std::optional<double> stored_value(c10::ScalarType type, const at::Scalar& value);

}  // namespace plans

// A scalar in the dtype of `self`, created after a plan has checked that it fits. torch converts
// it, so that a vendor gets integers for integer tensors.
class StoredScalar {
 public:
  StoredScalar(const at::Tensor& self, const at::Scalar& value) : value_(to_scalar(value)) {
    if (value.isFloatingPoint() && c10::isIntegralType(self.scalar_type(), /*includeBool=*/true))
      make_integer(self.scalar_type(), value);
  }
  const diopiScalar_t* get() const { return &value_; }

 private:
  void make_integer(c10::ScalarType type, const at::Scalar& value);

  diopiScalar_t value_;
};
inline StoredScalar to_stored(const at::Tensor& self, const at::Scalar& value) {
  return StoredScalar(self, value);
}

// Same, for contract functions that take a pointer to double.
class StoredDouble {
 public:
  StoredDouble(const at::Tensor& self, const at::Scalar& value);
  const double* get() const { return &value_; }

 private:
  double value_;
};
inline StoredDouble stored_double(const at::Tensor& self, const at::Scalar& value) {
  return StoredDouble(self, value);
}

// Rounds a scalar as torch kernels do that first convert it to the dtype of their operands:
// half-precision dtypes round it. For wider dtypes the kernels convert the scalar themselves.
inline diopiScalar_t round_scalar(diopiScalar_t number, c10::ScalarType type) {
  if (type != at::kHalf && type != at::kBFloat16) return number;
  const bool is_float = number.stype == diopi_dtype_float64;
  const float given = is_float ? static_cast<float>(number.fval) : static_cast<float>(number.ival);
  number.stype = diopi_dtype_float64;
  number.fval = type == at::kHalf ? static_cast<double>(static_cast<c10::Half>(given))
                                  : static_cast<double>(static_cast<c10::BFloat16>(given));
  return number;
}
inline diopiScalar_t round_scalar(const at::Scalar& value, c10::ScalarType type) {
  return round_scalar(to_scalar(value), type);
}

}  // namespace dl::core
