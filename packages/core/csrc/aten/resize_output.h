// resize_output of ATen/native/Resize.h, declared here because that header includes every operator.
#pragma once

#include <ATen/core/Tensor.h>

namespace at::native {
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
}
