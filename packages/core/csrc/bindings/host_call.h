// Python functions on CPU tensors over the memory of dl tensors, for graph compilers.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_host_call(pybind11::module_& m);

}  // namespace dl::core
