// Whether a compiled graph serves a call's arguments.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_argument_guard(pybind11::module_& m);

}  // namespace dl::core
