// Checks shared by the plan functions.
#pragma once

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

inline bool floating(const Tensor& tensor) { return c10::isFloatingType(tensor.scalar_type()); }

}  // namespace dl::core::plans
