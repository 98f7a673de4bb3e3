// Runs an operator on the CPU when the vendor cannot. Always counted; forbidden on request.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core {

struct OperatorInfo;

enum class FallbackMode { allow, warn, error };

// Process-wide default, and a thread's own choice on top of it (used by context managers).
void set_fallback_mode(FallbackMode mode);
FallbackMode fallback_mode();

struct FallbackCount {
  std::string overload;  // "aten::add.Tensor" without the namespace for aten
  uint64_t calls;
  uint64_t nanoseconds;  // only while operators are profiled
};
std::vector<FallbackCount> fallback_counts();
void reset_fallback_counts();

// The boxed fallback, registered for every operator without a kernel of its own. Tensors on
// host-accessible devices are aliased, others staged through host memory; both keep aliasing,
// views, resizes and lists. Throws when operands lie on different devices, and NotImplementedError
// when fallbacks are forbidden.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// What the mode says about a call on `device` whose arguments are `count` from `begin` on: warns,
// or throws NotImplementedError where fallbacks are forbidden.
void apply_fallback_mode(OperatorInfo& info, int device, const torch::jit::Stack& stack,
                         size_t begin, size_t count);

// Throws CaptureError while the current stream of `device` captures: the host has to wait.
void check_not_captured(const OperatorInfo& info, int device);

// Says, in place of a CPU kernel that lacks a dtype, what runs where and what to do. `error` is
// what the kernel said.
[[noreturn]] void refuse_unsupported(const std::string& overload, int device,
                                     const std::string& arguments,
                                     const c10::NotImplementedError& error);
// The same of a call with these arguments.
[[noreturn]] void refuse_unsupported(const c10::OperatorHandle& op,
                                     const torch::jit::Stack& arguments,
                                     const c10::NotImplementedError& error);

}  // namespace dl::core
