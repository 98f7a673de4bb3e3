// Wrapper of the sparse kernels in this folder.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <type_traits>
#include <utility>

#include "aten/kernel/composed.h"
#include "calls/call_counts.h"
#include "runtime/device.h"
#include "runtime/host.h"

namespace dl::core {

// Makes the device of the first dl tensor current, disables autocast for inner operators, and
// counts the call as composed.
template <auto function, typename Signature = std::remove_pointer_t<decltype(function)>>
struct SparseKernel;
template <auto function, typename Return, typename... Args>
struct SparseKernel<function, Return(Args...)> {
  static Return call(Args... args) {
    check_not_forked();
    int index = -1;
    (see(index, args), ...);
    const DeviceScope scope(index < 0 ? current_device() : index);
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    count_call(&ThreadCounts::composed);
    return function(std::forward<Args>(args)...);
  }

 private:
  template <typename T>
  static void see(int& index, const T& argument) {
    if constexpr (std::is_same_v<std::decay_t<T>, at::Tensor>) {
      if (index < 0 && argument.defined() && is_on_dl(argument)) index = argument.get_device();
    }
  }
};

}  // namespace dl::core

// For blocks of SparsePrivateUse1 or SparseCsrPrivateUse1.
#define DL_SPARSE(name, function) \
  library.impl(name, TORCH_FN(::dl::core::SparseKernel<&function>::call))
