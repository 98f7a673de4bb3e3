#pragma once

#include <pybind11/pybind11.h>

namespace dl::core {

// Functions that insert hooks and decompositions between the dispatcher and the kernels.
void bind_modes(pybind11::module_& m);

}  // namespace dl::core
