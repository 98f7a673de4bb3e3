// Checks shared by the plan functions.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Returns true if `other` is on the device of `first`, or is an optional tensor that is missing or
// undefined.
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

// Returns true unless the tensor is a lazy conjugate or negative view, which torch resolves before
// most operators; it passes such views to matrix products unresolved.
inline bool as_stored(const Tensor& tensor) { return !tensor.is_conj() && !tensor.is_neg(); }
inline bool as_stored(const OptionalTensor& tensor) {
  return !tensor || !tensor->defined() || as_stored(*tensor);
}

template <typename... Others>
bool alike(const Tensor& first, const Others&... others) {
  return first.device().type() == kDeviceType && as_stored(first) &&
         to_diopi(first.scalar_type()) != diopi_dtype_unsupported &&
         (... && (on_same_device(first, others) && same_type(first, others) && as_stored(others)));
}

inline bool is_index(const Tensor& tensor) {
  return tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt;
}

// Number of dimensions by torch's rules: a 0-dim tensor counts as a vector of one element.
inline int64_t count_of(const Tensor& self) { return self.dim() == 0 ? 1 : self.dim(); }
inline bool valid_dim(const Tensor& self, int64_t dim) {
  return dim >= -count_of(self) && dim < count_of(self);
}
inline int64_t wrap_dim(const Tensor& self, int64_t dim) {
  return dim < 0 ? dim + count_of(self) : dim;
}

// Returns true if `written` and `read` share no memory; torch rejects calls in which they do.
inline bool apart(const Tensor& written, const Tensor& read) { return !written.is_alias_of(read); }

inline bool is_dim_of(int64_t dim, int64_t count) { return dim >= -count && dim < count; }

inline bool floating(const Tensor& tensor) { return c10::isFloatingType(tensor.scalar_type()); }

inline bool is_real(const Tensor& tensor) {
  return floating(tensor) || c10::isIntegralType(tensor.scalar_type(), true);
}

}  // namespace dl::core::plans
