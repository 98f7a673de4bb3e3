// Numbers that become elements of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "contract/handle.h"

namespace dl::core {
namespace plans {

// Whether torch converts the number to the dtype without a complaint.
bool holds(c10::ScalarType type, const at::Scalar& value);

// The number that elements of the dtype become when they are set to `value`; none where torch
// complains and where a double does not hold it.
std::optional<double> stored_number(c10::ScalarType type, const at::Scalar& value);

}  // namespace plans

// The number that elements of `self` become when they are set to `value`, which a plan has found to
// fit: torch converts it, so that a vendor gets integers for integers.
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
inline StoredScalar stored(const at::Tensor& self, const at::Scalar& value) {
  return StoredScalar(self, value);
}

// The same where the contract takes a pointer to a double.
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

// A number as torch's kernels read it that convert it to the dtype of their operands first: the
// half types round it. Kernels themselves convert to wider ones.
inline diopiScalar_t rounded(diopiScalar_t number, c10::ScalarType type) {
  if (type != at::kHalf && type != at::kBFloat16) return number;
  const bool is_float = number.stype == diopi_dtype_float64;
  const float given = is_float ? static_cast<float>(number.fval) : static_cast<float>(number.ival);
  number.stype = diopi_dtype_float64;
  number.fval = type == at::kHalf ? static_cast<double>(static_cast<c10::Half>(given))
                                  : static_cast<double>(static_cast<c10::BFloat16>(given));
  return number;
}
inline diopiScalar_t rounded(const at::Scalar& value, c10::ScalarType type) {
  return rounded(to_scalar(value), type);
}

}  // namespace dl::core
