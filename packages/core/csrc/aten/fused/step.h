// What the fused optimiser steps share: lists of parameters as handles, and the two tensors by
// which a gradient scaler takes part.
#pragma once

#include "aten/layout/aliases.h"

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>
#include <vector>

namespace dl::core {

// Whether the lists are as long as the parameters, and tensors at one position agree in device,
// dtype, which is floating, and shape, and share no memory.
bool lists_match(at::TensorList params, std::initializer_list<at::TensorList> others);
// As many step counters as parameters, one element each, beside the parameters; `others` match.
bool steps_match(at::TensorList params, std::initializer_list<at::TensorList> others,
                 at::TensorList steps);

// What a scaler found makes this step an empty one. Waits for the device.
bool is_skipped(const OptionalTensor& found_inf);

// Divides the gradients by the loss scale, in place: torch leaves them so.
void unscale(at::TensorList grads, const OptionalTensor& grad_scale);

// The gradients that a step goes along: negated to maximise, with decay · parameter added. The
// given ones where nothing changes them, else new tensors.
std::vector<at::Tensor> effective_gradients(at::TensorList params, at::TensorList grads,
                                            bool maximize, double weight_decay);

}  // namespace dl::core
