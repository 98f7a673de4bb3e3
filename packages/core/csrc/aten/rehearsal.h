// A dry run of torch's CPU kernel: for the error that it raises, not for its results.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <exception>

#include "aten/host_arguments.h"

namespace dl::core {

// Calls it with tensors that share memory, and have strides, as the arguments do; `twins` says what
// is in them: `copy` or `blank`. Nothing that the caller sees changes, random generators included.
// With `whole_storages`, tensors of one storage share memory even where they lie apart, so that one
// may grow into the other. Returns what the kernel raised, or NULL.
std::exception_ptr rehearse(const c10::OperatorHandle& op, torch::jit::Stack arguments, Twins twins,
                            bool whole_storages = false);

}  // namespace dl::core
