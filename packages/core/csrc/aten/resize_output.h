// One function of ATen/native/Resize.h, which includes every operator of ATen.
#pragma once

#include <ATen/core/Tensor.h>

namespace at::native {
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
}
