// Registration of kernels, with the checks that every kernel needs.
//
// Outputs may share memory with inputs (overlap.h), results may depend on the order in which a
// device adds (deterministic.h), and vendor errors are converted to torch's (refusal.h). In the
// common case these checks have no measurable cost.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/fallback/fallback_typed.h"
#include "aten/fallback/overlap.h"
#include "aten/fallback/refusal.h"
#include "aten/kernel/deterministic.h"
#include "calls/decline.h"
#include "calls/vendor_error.h"
#include "memory/graph_pools.h"

namespace dl::core {

// Kind of a kernel by what it calls, which determines the errors that can occur in it.
enum class KernelKind {
  kVendor,    // calls an operator of the vendor, which may fail
  kComposed,  // calls other kernels only
};

// A capture error inside a kernel is extended with the operator that the user called.
[[gnu::noinline, gnu::cold]] inline void add_name(CaptureError& error, const char* kernel) {
  error.add_context(std::string("in aten::") + kernel);
}

// `coinciding`: bit mask of the arguments that may be the same tensor as the kernel's output.
template <Text name, auto function, KernelKind kind, uint64_t coinciding = 0,
          typename Type = decltype(function)>
struct Kernel;

template <Text name, auto function, KernelKind kind, uint64_t coinciding, typename Return,
          typename... Args>
struct Kernel<name, function, kind, coinciding, Return (*)(Args...)> {
  static auto pointer() { return &call; }

  static Return call(Args... args) {
    if constexpr (kWrites) {
      if (C10_UNLIKELY(is_entangled(std::index_sequence_for<Args...>(), args...))) {
        const FallbackOperator op = find_operator(name.value);
        if (!overlap::is_permitted(op.handle)) return boxed(overlap::disentangle_kernel(), args...);
      }
    }
    if constexpr (kOrder != Order::fixed) {
      const int device = first_device(args...);
      if (C10_UNLIKELY(wants_fixed_order(device))) {
        if constexpr (kOrder == Order::fixed_on_cpu) {
          note_fixed_order();
          return TypedFallback<Return(Args...)>::call(find_operator(name.value), args...);
        }
        if (kOrder == Order::open || is_first_floating(args...)) alert_open_order(name.value);
      }
    }
    if constexpr (kNumbers) {
      if (C10_UNLIKELY((is_beyond_float_number(args) || ...))) {
        check_scalars(find_operator(name.value).handle,
                      c10::impl::boxArgs<std::decay_t<Args>...>(args...));
      }
    }
    // The outermost operator translates the errors of the operators that it calls.
    using Refused = std::conditional_t<kind == KernelKind::kVendor, VendorError, c10::Error>;
    try {
      return function(args...);
    } catch (CaptureError& error) {
      add_name(error, name.value);
      throw;
    } catch (const Refused& error) {
      if (!Refusal::is_of_kernel(error)) throw;
      const Refusal refusal(error);
      return boxed(reword_kernel(), args...);
    }
  }

 private:
  static constexpr bool kWrites = (overlap::kWritten<Args> || ...);
  template <typename T>
  static constexpr bool kNumber =
      typed::kOneOf<T, at::Scalar, double, std::optional<at::Scalar>, std::optional<double>>;
  static constexpr bool kNumbers = (kNumber<Args> || ...);
  static constexpr Order kOrder = order_of(name.value);

  template <typename T>
  static bool is_beyond_float_number(const T& argument) {
    if constexpr (kNumber<T>) {
      return is_beyond_float(argument);
    } else {
      return false;
    }
  }

  // Rare cases take the boxed path.
  [[gnu::noinline, gnu::cold]] static Return boxed(const c10::BoxedKernel& way,
                                                   std::remove_reference_t<Args>&... args) {
    return c10::impl::BoxedKernelWrapper<Return(Args...)>::call(
        way, find_operator(name.value).handle, c10::DispatchKeySet(), static_cast<Args>(args)...);
  }

  template <size_t... Position>
  static bool is_entangled(std::index_sequence<Position...> positions,
                           const std::remove_reference_t<Args>&... args) {
    const auto all = std::forward_as_tuple(args...);
    return (is_target_entangled<Position>(positions, all) || ...);
  }

  template <size_t target, size_t... Position, typename All>
  static bool is_target_entangled(std::index_sequence<Position...>, const All& all) {
    if constexpr (!overlap::kWritten<std::tuple_element_t<target, std::tuple<Args...>>>) {
      return false;
    } else {
      const at::Tensor& written = std::get<target>(all);
      return overlap::repeats(written) ||
             ((Position != target && overlap::entangles<(coinciding >> Position & 1) != 0>(
                                         written, std::get<Position>(all))) ||
              ...);
    }
  }

  static int first_device(const std::remove_reference_t<Args>&... args) {
    typed::CommonDevice common;
    (common.see<overlap::kWritten<Args>>(args), ...);
    return common.index();
  }

  template <typename First, typename... Others>
  static bool is_first_floating(const First& first, const Others&...) {
    if constexpr (std::is_same_v<First, at::Tensor>) {
      return first.is_floating_point() || first.is_complex();
    } else {
      return false;
    }
  }
};

}  // namespace dl::core

// Register a kernel in a TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) block. DL_KERNEL_OVER is
// for kernels with arguments, given by the bit mask, that may be the same tensor as the output.
#define DL_KERNEL(name, function) DL_KERNEL_OVER(name, function, 0)
#define DL_KERNEL_OVER(name, function, coinciding) \
  library.impl(                                    \
      name,                                        \
      ::dl::core::Kernel<name, &function, ::dl::core::KernelKind::kVendor, coinciding>::pointer())
