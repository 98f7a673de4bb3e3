// Python bindings of the torch.distributed backend.
#pragma once

#include <pybind11/pybind11.h>

namespace dl::core {

// Adds `Dicl` to the module. torch.distributed must have been imported, because it defines the base
// class.
void bind_distributed(pybind11::module_& module);

}  // namespace dl::core
