// Python bindings for storages shared between processes.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace dl::core {

void bind_sharing(pybind11::module_& module);

}  // namespace dl::core
