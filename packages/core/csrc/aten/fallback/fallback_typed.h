// Unboxed fallback for generated wrappers: arguments keep their C++ types where possible, because
// boxing costs a third of the time of a small operator. Rare cases take the boxed fallback, which
// supports everything: generators, tensor lists, staging, forbidden fallbacks, operands on several
// devices.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/fallback/fallback.h"
#include "aten/fallback/fallback_reason.h"
#include "aten/fallback/host_arguments.h"
#include "aten/fallback/operator_info.h"
#include "aten/fallback/refusal.h"
#include "aten/fallback/text.h"
#include "calls/call.h"
#include "memory/graph_pools.h"
#include "memory/silent_writes.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/recorder.h"

namespace dl::core {
namespace typed {

template <typename T>
inline constexpr bool kTensor = std::is_same_v<std::decay_t<T>, at::Tensor>;
template <typename T>
inline constexpr bool kOptionalTensor = std::is_same_v<std::decay_t<T>, std::optional<at::Tensor>>;

template <typename T, typename... Options>
inline constexpr bool kOneOf = (std::is_same_v<std::decay_t<T>, Options> || ...);
template <typename T>
struct IsMask : std::false_type {};
template <size_t N>
struct IsMask<std::array<bool, N>> : std::true_type {};

// Arguments without tensors, which need no conversion.
template <typename T>
inline constexpr bool kPlain =
    kOneOf<T, int64_t, double, bool, at::Scalar, at::ScalarType, at::IntArrayRef,
           at::OptionalIntArrayRef, std::string_view, std::optional<int64_t>, std::optional<double>,
           std::optional<bool>, std::optional<at::Scalar>, std::optional<at::ScalarType>,
           std::optional<std::string_view>> ||
    IsMask<std::decay_t<T>>::value;

template <typename T>
struct IsResult : std::bool_constant<kTensor<T>> {};
template <typename... T>
struct IsResult<std::tuple<T...>> : std::bool_constant<(std::is_same_v<T, at::Tensor> && ...)> {};

// A single reference result refers to one of the arguments; several results take the boxed
// fallback.
template <typename Return, typename... Args>
inline constexpr bool kSupported =
    IsResult<Return>::value && ((kTensor<Args> || kOptionalTensor<Args> || kPlain<Args>) && ...);

// The dl device of all tensors, ignoring CPU scalars that are only read; -1 if there is no common
// device.
class CommonDevice {
 public:
  template <bool written, typename T>
  void see(const T& argument) {
    if constexpr (kTensor<T>) {
      see_tensor(argument, written);
    } else if constexpr (kOptionalTensor<T>) {
      if (argument) see_tensor(*argument, written);
    }
  }
  int index() const { return mixed_ ? -1 : index_; }

 private:
  void see_tensor(const at::Tensor& tensor, bool written) {
    if (!tensor.defined()) return;
    const c10::Device where = tensor.device();
    if (where.type() == kDeviceType) {
      mixed_ |= index_ >= 0 && index_ != where.index();
      index_ = where.index();
    } else {
      mixed_ |= written || !(where.is_cpu() && tensor.dim() == 0);
    }
  }

  int index_ = -1;
  bool mixed_ = false;
};

inline bool possible(const OperatorInfo& info, int index) {
  return index >= 0 && fallback_mode() == FallbackMode::allow && !is_capturing(index) &&
         !records_placeholders() && device_unchecked(index).host_accessible &&
         info.generator_index < 0 && !info.random && !info.whole_storage;
}

template <typename T>
using Held =
    std::conditional_t<kTensor<T>, at::Tensor,
                       std::conditional_t<kOptionalTensor<T>, std::optional<at::Tensor>, T>>;

inline at::Tensor hold_tensor(HostArguments& host, const at::Tensor& tensor, bool written) {
  if (!tensor.defined()) return tensor;
  if (tensor.device().type() == kDeviceType) return host.to_host(tensor, written);
  host.note_cpu_input(tensor);
  return tensor;
}

template <typename T>
Held<T> hold(HostArguments& host, std::remove_reference_t<T>& argument, bool written) {
  if constexpr (kTensor<T>) {
    return hold_tensor(host, argument, written);
  } else if constexpr (kOptionalTensor<T>) {
    if (!argument) return std::nullopt;
    return hold_tensor(host, *argument, written);
  } else {
    return static_cast<Held<T>>(argument);
  }
}

inline at::Tensor release(HostArguments& host, const at::Tensor& result) {
  return host.to_device(result);
}
template <typename... T>
std::tuple<T...> release(HostArguments& host, const std::tuple<T...>& results) {
  return std::apply([&](const T&... each) { return std::tuple<T...>{host.to_device(each)...}; },
                    results);
}

// Finds the argument that `result`, a reference to one of the held tensors, stands for.
template <typename T>
void match(const at::Tensor& result, Held<T>& held, std::remove_reference_t<T>& argument,
           at::Tensor*& found) {
  if constexpr (std::is_same_v<T, at::Tensor&>) {
    if (&result == &held) found = &argument;
  }
}

// Counts a call after it has run: as with vendor operators, calls that raise are not counted.
class Count {
 public:
  Count(OperatorInfo& info, const Explanation& explanation)
      : info_(info), reason_(find_reason(info, explanation)) {
    if (C10_UNLIKELY(is_timed())) start_ = now_ns();
  }
  ~Count() {
    if (C10_UNLIKELY(start_ != 0 && ran_))
      reason_.nanoseconds.fetch_add(now_ns() - start_, std::memory_order_relaxed);
  }
  void ran() {
    ran_ = true;
    reason_.calls.fetch_add(1, std::memory_order_relaxed);
    if (C10_UNLIKELY(info_.silent)) count_silent_write();
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  OperatorInfo& info_;
  FallbackReason& reason_;
  uint64_t start_ = 0;
  bool ran_ = false;
};

}  // namespace typed

// Data of an operator that the fallback needs. Looked up once for each overload, at its first
// fallback.
struct FallbackOperator {
  c10::OperatorHandle handle;
  OperatorInfo& info;
};
inline FallbackOperator find_operator(const char* name, const char* overload) {
  const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  return {handle, operator_info(handle)};
}

// Finds an operator by name and overload, "add.Tensor". Slow: for rare calls only.
FallbackOperator find_operator(const char* overload);
// Same, for a kernel of dl-core that leaves calls to the fallback.
FallbackOperator find_own_operator(const char* overload);

template <typename Signature>
struct TypedFallback;

template <typename Return, typename... Args>
struct TypedFallback<Return(Args...)> {
  static Return call(const FallbackOperator& op, Args... args) {
    if constexpr (typed::kSupported<Return, Args...>) {
      typed::CommonDevice common;
      (common.see<std::is_same_v<Args, at::Tensor&>>(args), ...);
      if (C10_LIKELY(typed::possible(op.info, common.index())))
        return unboxed(std::index_sequence_for<Args...>(), op, common.index(), args...);
    }
    return c10::impl::BoxedKernelWrapper<Return(Args...)>::call(
        c10::BoxedKernel::makeFromFunction<&fallback>(), op.handle, c10::DispatchKeySet(),
        std::forward<Args>(args)...);
  }

 private:
  template <size_t... Position>
  static Return unboxed(std::index_sequence<Position...>, const FallbackOperator& op, int index,
                        std::remove_reference_t<Args>&... args) {
    OperatorInfo& info = op.info;
    check_not_forked();
    typed::Count count(info, explain_fallback(info, index));
    // CPU kernels call other operators, which must neither record gradients nor be autocast.
    const c10::impl::ExcludeDispatchKeyGuard below_autograd_and_autocast(
        c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset);
    const DeviceScope scope(index);
    HostArguments host(index, Twins::alias, false);
    host.begin();
    // A braced list evaluates from left to right.
    std::tuple<typed::Held<Args>...> held{typed::hold<Args>(host, args, info.writes[Position])...};
    const auto run = [&](typed::Held<Args>&... each) -> Return {
      try {
        return op.handle.typed<Return(Args...)>().redispatch(
            c10::DispatchKeySet(c10::DispatchKey::CPU), static_cast<Args>(each)...);
      } catch (const c10::NotImplementedError& error) {
        refuse_unsupported(info.name, index, host.describe(), error);
      } catch (const c10::Error& error) {
        Refusal::note(error);
        throw;
      }
    };
    if constexpr (std::is_reference_v<Return>) {
      const at::Tensor& result = std::apply(run, held);
      count.ran();
      host.finish();
      at::Tensor* found = nullptr;
      std::apply([&](auto&... each) { (typed::match<Args>(result, each, args, found), ...); },
                 held);
      TORCH_INTERNAL_ASSERT(found != nullptr, "aten::", info.name, " returned no argument of its");
      return *found;
    } else {
      const Return result = std::apply(run, held);
      count.ran();
      host.finish();
      return typed::release(host, result);
    }
  }
};

// Runs an overload, "add.Tensor", on the CPU; `Signature` is the type of the native kernel.
template <Text overload, typename Signature, typename... Args>
decltype(auto) on_cpu(Args&&... args) {
  static const FallbackOperator op = find_own_operator(overload.value);
  return TypedFallback<Signature>::call(op, std::forward<Args>(args)...);
}

}  // namespace dl::core
