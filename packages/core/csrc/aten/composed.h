// Operators that are built from others instead of served by one of the contract.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>
#include <vector>

#include "aten/fallback.h"
#include "aten/kernel.h"
#include "runtime/device.h"

namespace dl::core {

// The overloads registered with DL_COMPOSED. They run on the device as far as those they call do.
std::vector<std::string>& composed_operators();

inline bool is_on_dl(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

}  // namespace dl::core

// In a TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) block; DL_KERNEL_COMPOSED one that asks the
// vendor first.
#define DL_COMPOSED(name, function)                   \
  do {                                                \
    ::dl::core::composed_operators().push_back(name); \
    library.impl(name, ::dl::core::Kernel<name, &function, ::dl::core::Made::of_operators>::pointer()); \
  } while (false)
#define DL_KERNEL_COMPOSED(name, function)            \
  do {                                                \
    ::dl::core::composed_operators().push_back(name); \
    DL_KERNEL(name, function);                        \
  } while (false)
#define DL_KERNEL_COMPOSED_OVER(name, function, coinciding) \
  do {                                                      \
    ::dl::core::composed_operators().push_back(name);       \
    DL_KERNEL_OVER(name, function, coinciding);             \
  } while (false)
