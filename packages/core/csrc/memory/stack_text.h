// Stacks of Python and C++ as text.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <memory>
#include <string>

namespace dl::core {

using Stack = std::shared_ptr<torch::CapturedTraceback>;

// Of here; of Python what is running, of C++ all.
Stack gather_stack();
// One indented line a frame, innermost first, without the frames of allocators. Needs the
// interpreter for Python's frames.
std::string stack_text(const Stack& stack);

}  // namespace dl::core
