#include "memory/stack_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dl::core {
namespace {

constexpr size_t kLongest = 40;  // frames

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Frames between the program and the allocator, and frames outside the program: torch, its bindings
// and the interpreter, which is written in C.
bool is_noise(const torch::unwind::Frame& frame) {
  const std::string_view function = frame.funcname, file = frame.filename;
  static constexpr std::array<std::string_view, 8> kNoise = {
      "torch::", "dl::core::", "c10::", "at::", "pybind11::", "Py", "_Py", "_start"};
  if (function == "??" || file.substr(std::max<size_t>(file.size(), 2) - 2) == ".c") return true;
  return std::any_of(kNoise.begin(), kNoise.end(),
                     [&](std::string_view begin) { return begins(function, begin); });
}

}  // namespace

Stack gather_stack() { return torch::CapturedTraceback::gather(true, false, true); }

std::string stack_text(const Stack& stack) {
  if (stack == nullptr) return "";
  const torch::SymbolizedTracebacks found = torch::symbolize({stack.get()});
  std::string text;
  size_t lines = 0;
  for (const uint64_t index : found.tracebacks.at(0)) {
    const torch::unwind::Frame& frame = found.all_frames.at(index);
    if (is_noise(frame)) continue;
    if (++lines > kLongest) return text + "    ...\n";
    text += "    " + frame.filename + ":" + std::to_string(frame.lineno) + " in " + frame.funcname +
            "\n";
  }
  return text;
}

}  // namespace dl::core
