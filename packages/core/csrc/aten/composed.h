// Composed operators: built from other ATen operators instead of served by one of the contract.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <string>
#include <utility>
#include <vector>

#include "aten/call_counts.h"
#include "aten/fallback.h"
#include "aten/kernel.h"
#include "runtime/device.h"

namespace dl::core {

// The overloads registered with DL_COMPOSED, which run on the device as far as those they call do,
// and those registered with DL_PROVIDED.
std::vector<std::string>& composed_operators();

inline bool is_on_dl(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

// Autocast decides about the operator that was called, as where that is one kernel, and not about
// those it is built from.
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
using ComposedKernel = Kernel<name, &Counted<&Composed<function>::call>::call, Made::of_operators>;

}  // namespace dl::core

// In a TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) block: operators that are built from others.
#define DL_COMPOSED(name, function)                                             \
  do {                                                                          \
    ::dl::core::composed_operators().push_back(name);                           \
    library.impl(name, ::dl::core::ComposedKernel<name, &function>::pointer()); \
  } while (false)
// The same for a function whose parts autocast decides about.
#define DL_COMPOSED_OF_CALLS(name, function)                            \
  do {                                                                  \
    ::dl::core::composed_operators().push_back(name);                   \
    library.impl(name, TORCH_FN(::dl::core::Counted<&function>::call)); \
  } while (false)
// What needs no count and no guard: views, memory, copies.
#define DL_PROVIDED(name, function)                   \
  do {                                                \
    ::dl::core::composed_operators().push_back(name); \
    library.impl(name, TORCH_FN(function));           \
  } while (false)
// Operators that are composed where the vendor, which is asked first, lacks them.
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
