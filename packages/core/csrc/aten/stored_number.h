// Numbers that become elements of a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "aten/handle.h"

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

}  // namespace dl::core
