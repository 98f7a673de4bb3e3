// Guard that decides whether a compiled graph is valid for the arguments of a call.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_argument_guard(pybind11::module_& m);

}  // namespace dl::core
