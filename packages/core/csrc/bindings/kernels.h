// Python bindings for kernels of graph compilers.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_kernels(pybind11::module_& m);

}  // namespace dl::core
