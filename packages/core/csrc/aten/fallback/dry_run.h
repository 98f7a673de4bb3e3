// Dry run of torch's CPU kernel, for the error that it raises and not for its results.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <exception>

#include "aten/fallback/host_arguments.h"

namespace dl::core {

// Calls the kernel with tensors that share memory and have strides as the arguments do; `twins`
// selects their contents: `copy` or `blank`. No visible state changes, including random generators.
// With `whole_storages`, tensors of one storage share memory even if they do not overlap, so that
// one may grow into the other. Returns the error of the kernel, or NULL.
std::exception_ptr dry_run(const c10::OperatorHandle& op, torch::jit::Stack arguments, Twins twins,
                           bool whole_storages = false);

}  // namespace dl::core
