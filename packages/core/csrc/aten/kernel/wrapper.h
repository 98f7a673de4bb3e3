// Common includes of the generated wrappers.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/kernel.h"
#include "aten/layout/outputs.h"
#include "aten/plans/conditions.h"
#include "aten/plans/elementwise.h"
#include "aten/plans/output_plan.h"
#include "aten/plans/stored_scalar.h"
#include "calls/call.h"
#include "calls/decline.h"
#include "calls/generator_handle.h"

namespace dl::core {

// As device_of for one tensor; uses the first tensor of the list.
template <typename List>
int device_of_list(const List& tensors) {
  return tensors.size() == 0
             ? -1
             : ::dl::core::device_of(static_cast<const at::Tensor&>(*tensors.begin()));
}

// An array of input handles; undefined tensors have NULL entries.
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

inline diopiRoundMode_t round_mode(const std::optional<c10::string_view>& mode) {
  return !mode ? RoundModeNone : *mode == "trunc" ? RoundModeTrunc : RoundModeFloor;
}

}  // namespace dl::core
