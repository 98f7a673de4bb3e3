#pragma once

#include <pybind11/pybind11.h>

namespace dl::core {

// What stands between the dispatcher and its kernels while a mode is on.
void bind_modes(pybind11::module_& m);

}  // namespace dl::core
