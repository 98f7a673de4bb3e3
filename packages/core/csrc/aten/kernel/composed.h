// Registration of composite operators, which call other ATen operators instead of the contract's.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>
#include <utility>
#include <vector>

#include "aten/fallback/fallback.h"
#include "aten/kernel/kernel.h"
#include "calls/call_counts.h"
#include "runtime/device.h"

namespace dl::core {

// Overloads registered with DL_COMPOSED, which run on the device if the operators they call do, and
// overloads registered with DL_PROVIDED.
std::vector<std::string>& composed_operators();

inline bool is_on_dl(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

// Applies autocast once, to the operator that the user called, as a single kernel would, and not to
// the operators that it calls.
template <auto Function, typename Signature = std::remove_pointer_t<decltype(Function)>>
struct Composed;
template <auto Function, typename Return, typename... Args>
struct Composed<Function, Return(Args...)> {
  static Return call(Args... args) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    return Function(std::forward<Args>(args)...);
  }
};

template <Text name, auto function>
using ComposedKernel =
    Kernel<name, &Counted<&Composed<function>::call>::call, KernelKind::kComposed>;

}  // namespace dl::core

// Registers composed operators in a TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) block.
#define DL_COMPOSED(name, function)                                             \
  do {                                                                          \
    ::dl::core::composed_operators().push_back(name);                           \
    library.impl(name, ::dl::core::ComposedKernel<name, &function>::pointer()); \
  } while (false)
// Same, for functions whose inner operators are subject to autocast.
#define DL_COMPOSED_OF_CALLS(name, function)                            \
  do {                                                                  \
    ::dl::core::composed_operators().push_back(name);                   \
    library.impl(name, TORCH_FN(::dl::core::Counted<&function>::call)); \
  } while (false)
// Registers operators that are neither counted nor guarded: views, memory, copies.
#define DL_PROVIDED(name, function)                   \
  do {                                                \
    ::dl::core::composed_operators().push_back(name); \
    library.impl(name, TORCH_FN(function));           \
  } while (false)
// Registers operators that are composed only if the vendor, which is tried first, does not have
// them.
#define DL_KERNEL_COMPOSED(name, function)            \
  do {                                                \
    ::dl::core::composed_operators().push_back(name); \
    DL_KERNEL(name, function);                        \
  } while (false)
#define DL_KERNEL_COMPOSED_OVER(name, function, coinciding) \
  do {                                                      \
    ::dl::core::composed_operators().push_back(name);       \
    DL_KERNEL_OVER(name, function, coinciding);             \
  } while (false)
