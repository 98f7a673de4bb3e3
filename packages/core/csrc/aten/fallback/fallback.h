// CPU fallback for operators that the vendor does not implement. Every fallback is counted; a mode
// forbids fallbacks.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core {

struct Explanation;
struct FallbackReason;
struct OperatorInfo;

enum class FallbackMode { allow, warn, error };

// Sets the process-wide mode; a thread may override it (used by context managers).
void set_fallback_mode(FallbackMode mode);
FallbackMode fallback_mode();

struct FallbackCount {
  std::string overload;  // "aten::add.Tensor" without the namespace for aten
  uint64_t calls;
  uint64_t nanoseconds;  // only while operators are profiled
};
std::vector<FallbackCount> fallback_counts();

struct ReasonCount {
  std::string overload;
  const FallbackReason* reason;  // never freed
};
// All reasons of all operators since the start, whether they have occurred since the reset or not.
std::vector<ReasonCount> fallback_reasons();
void reset_fallback_counts();

// The fallback, a boxed kernel that is registered for every operator without a kernel. Tensors on
// host-accessible devices are aliased, others are staged through host memory; aliasing, views,
// resizes and lists work in both cases. Throws when operands are on different devices, and
// NotImplementedError when fallbacks are forbidden.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Applies the mode to a call on `device` whose `count` arguments start at `begin`: warns, or throws
// NotImplementedError when fallbacks are forbidden, with the reason for the fallback.
void apply_fallback_mode(OperatorInfo& info, const Explanation& reason, int device,
                         const torch::jit::Stack& stack, size_t begin, size_t count);

// Throws CaptureError while the current stream of `device` captures, because the fallback
// synchronizes.
void check_not_captured(const OperatorInfo& info, int device);

// Throws an error for a CPU kernel without support for a dtype; it names the operator, the device
// and the remedy. `error` is the kernel's own message.
[[noreturn]] void refuse_unsupported(const std::string& overload, int device,
                                     const std::string& arguments,
                                     const c10::NotImplementedError& error);
// Same, for a call with boxed arguments.
[[noreturn]] void refuse_unsupported(const c10::OperatorHandle& op,
                                     const torch::jit::Stack& arguments,
                                     const c10::NotImplementedError& error);

}  // namespace dl::core
