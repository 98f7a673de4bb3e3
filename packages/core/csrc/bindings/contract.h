// The recorder and contract graphs, for graph compilers.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_contract(pybind11::module_& m);

}  // namespace dl::core
