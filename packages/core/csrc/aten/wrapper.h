// What the generated wrappers include.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>

#include "aten/call.h"
#include "aten/elementwise.h"
#include "aten/fallback_typed.h"
#include "aten/generator_handle.h"
#include "aten/kernel.h"
#include "aten/plan_checks.h"
#include "aten/plans.h"

namespace dl::core {

// As device_of for one tensor: the first of the list decides.
template <typename List>
int device_of_list(const List& tensors) {
  return tensors.size() == 0
             ? -1
             : ::dl::core::device_of(static_cast<const at::Tensor&>(*tensors.begin()));
}

// An array of input handles, NULL entries for undefined tensors.
class HandleList {
 public:
  template <typename List>
  explicit HandleList(const List& tensors) {
    handles_.reserve(tensors.size());
    for (const at::Tensor& tensor : tensors) handles_.emplace_back(tensor);
    for (const OptionalHandle& handle : handles_) pointers_.push_back(handle.get());
  }
  // The contract's array type is not const-qualified, though operators only read it.
  diopiConstTensorHandle_t* data() const {
    return const_cast<diopiConstTensorHandle_t*>(pointers_.data());
  }
  int64_t size() const { return static_cast<int64_t>(pointers_.size()); }

 private:
  c10::SmallVector<OptionalHandle, 8> handles_;
  c10::SmallVector<diopiConstTensorHandle_t, 8> pointers_;
};

inline bool bound_fits(c10::ScalarType type, const at::Scalar& bound) {
  if (c10::isIntegralType(type, false) ? !bound.isIntegral(true) : bound.isComplex()) return false;
  return plans::holds(type, bound);
}
inline bool bounds_fit(c10::ScalarType type, const std::optional<at::Scalar>& min,
                       const std::optional<at::Scalar>& max) {
  return (!min || bound_fits(type, *min)) && (!max || bound_fits(type, *max));
}

// Integers have no negative powers, and none that are not whole.
inline bool power_fits(c10::ScalarType type, const at::Scalar& exponent) {
  if (c10::isFloatingType(type)) return !exponent.isComplex();
  return c10::isIntegralType(type, false) && exponent.isIntegral(false) && exponent.toLong() >= 0;
}

inline bool is_round_mode(const std::optional<c10::string_view>& mode) {
  return !mode || *mode == "trunc" || *mode == "floor";
}
inline diopiRoundMode_t round_mode(const std::optional<c10::string_view>& mode) {
  return !mode ? RoundModeNone : *mode == "trunc" ? RoundModeTrunc : RoundModeFloor;
}

}  // namespace dl::core
