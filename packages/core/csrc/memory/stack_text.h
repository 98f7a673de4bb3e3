// Formatting of Python and C++ stacks.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <memory>
#include <string>

namespace dl::core {

using Stack = std::shared_ptr<torch::CapturedTraceback>;

// Captures the current stack, with its Python and C++ frames.
Stack gather_stack();
// Returns one indented line per frame, innermost first, without allocator frames. Python frames
// need the interpreter.
std::string stack_text(const Stack& stack);

}  // namespace dl::core
