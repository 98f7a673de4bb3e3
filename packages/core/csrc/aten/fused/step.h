// Helper functions of the fused optimizer steps: parameter lists as handles, and the two tensors of
// a gradient scaler.
#pragma once

#include "aten/layout/aliases.h"

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>
#include <vector>

namespace dl::core {

// Returns true if all lists have the length of `params`, and if tensors with the same index agree
// in device, floating-point dtype and shape and share no memory.
bool lists_match(at::TensorList params, std::initializer_list<at::TensorList> others);
// Returns true if there is one step counter per parameter, with one element and on its device;
// `others` must match as in lists_match().
bool steps_match(at::TensorList params, std::initializer_list<at::TensorList> others,
                 at::TensorList steps);

// Returns true if the scaler has found infinities, so that this step must be skipped. Synchronizes.
bool is_skipped(const OptionalTensor& found_inf);

// Divides the gradients by the loss scale in place, as torch does.
void unscale(at::TensorList grads, const OptionalTensor& grad_scale);

// Returns the gradients of the step: negated for maximize, with decay · parameter added. Returns
// the given gradients if nothing changes them, otherwise new tensors.
std::vector<at::Tensor> effective_gradients(at::TensorList params, at::TensorList grads,
                                            bool maximize, double weight_decay);

}  // namespace dl::core
