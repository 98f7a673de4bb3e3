// Python bindings of the allocator.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_memory(pybind11::module_& module);

}  // namespace dl::core
