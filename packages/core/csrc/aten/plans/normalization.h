// Helper functions for plans of normalizations.
#pragma once

#include <ATen/OpMathType.h>

#include "aten/plans/checks.h"

namespace dl::core::plans {

inline bool defined(const Tensor& tensor) { return tensor.defined(); }
inline bool defined(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

inline const Tensor& value(const Tensor& tensor) { return tensor; }
inline const Tensor& value(const OptionalTensor& tensor) { return *tensor; }

// The common dtype of all parameters and statistics: the dtype of the input or, for half-precision
// input, of the computation; without parameters, the dtype of the input. Empty if parameters differ
// in dtype or device.
template <typename... Parameters>
OptionalType parameter_type(const Tensor& input, const Parameters&... parameters) {
  if (!alike(input) || !floating(input)) return std::nullopt;
  OptionalType type;
  bool fits = true;
  const auto look = [&](const auto& parameter) {
    if (!defined(parameter)) return;
    const at::ScalarType has = value(parameter).scalar_type();
    fits &= on_same_device(input, parameter) && (!type || *type == has);
    type = has;
  };
  (look(parameters), ...);
  if (!type) return input.scalar_type();
  fits &= *type == input.scalar_type() || *type == at::toOpMathType(input.scalar_type());
  return fits ? type : std::nullopt;
}

// Number of leading dimensions that are not normalized; -1 if the shapes do not match.
inline int64_t leading_dims(const Tensor& input, at::IntArrayRef normalized_shape) {
  const int64_t axis = input.dim() - static_cast<int64_t>(normalized_shape.size());
  if (axis < 0 || normalized_shape.empty() || input.sizes().slice(axis) != normalized_shape)
    return -1;
  return axis;
}

inline DimVector row_statistics(const Tensor& input, int64_t axis) {
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  for (int64_t i = axis; i < input.dim(); ++i) sizes[i] = 1;
  return sizes;
}

inline bool has_sizes(const OptionalTensor& tensor, at::IntArrayRef sizes) {
  return !defined(tensor) || tensor->sizes() == sizes;
}

inline void gradient(OutputPlan& plan, bool wanted, at::IntArrayRef sizes, at::ScalarType type,
                     c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
  if (wanted) {
    plan.output(sizes, type, format);
  } else {
    plan.absent_output();
  }
}

}  // namespace dl::core::plans
