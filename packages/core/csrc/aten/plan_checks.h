// Checks shared by the plan functions.
#pragma once

#include <optional>

#include "aten/plans.h"

namespace dl::core::plans {

// All on the device of the first, which is a dl device; undefined optional tensors pass.
inline bool on_same_device(const Tensor& first, const Tensor& other) {
  return first.device() == other.device();
}
inline bool on_same_device(const Tensor& first, const OptionalTensor& other) {
  return !other || !other->defined() || first.device() == other->device();
}

inline bool same_type(const Tensor& first, const Tensor& other) {
  return first.dtype() == other.dtype();
}
inline bool same_type(const Tensor& first, const OptionalTensor& other) {
  return !other || !other->defined() || first.dtype() == other->dtype();
}

template <typename... Others>
bool alike(const Tensor& first, const Others&... others) {
  return first.device().type() == kDeviceType &&
         to_diopi(first.scalar_type()) != diopi_dtype_unsupported &&
         (... && (on_same_device(first, others) && same_type(first, others)));
}

inline bool is_index(const Tensor& tensor) {
  return tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt;
}

// Dimensions as torch counts them: a tensor without any is taken for one of one element.
inline int64_t count_of(const Tensor& self) { return self.dim() == 0 ? 1 : self.dim(); }
inline bool valid_dim(const Tensor& self, int64_t dim) {
  return dim >= -count_of(self) && dim < count_of(self);
}
inline int64_t wrapped(const Tensor& self, int64_t dim) {
  return dim < 0 ? dim + count_of(self) : dim;
}

// Whether torch converts the number to the dtype without a complaint.
bool holds(c10::ScalarType type, const at::Scalar& value);

// The number that elements of the dtype become when they are set to `value`; none where torch
// complains and where a double does not hold it.
std::optional<double> stored_number(c10::ScalarType type, const at::Scalar& value);

inline bool floating(const Tensor& tensor) { return c10::isFloatingType(tensor.scalar_type()); }

}  // namespace dl::core::plans
