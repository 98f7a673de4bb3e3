// Operators that write into tensors of the caller, which may share memory with what they read.
//
// Torch's kernels differ in what they refuse and in what they get right. Here every kernel that
// writes stands behind a guard (kernel.h): a call whose tensors lie apart, which is nearly every
// one, costs a few comparisons of pointers and goes on. Others take the long way: what torch's CPU
// kernel refuses is refused, and what it computes is computed in memory of its own.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <type_traits>

#include "aten/fallback/operator_info.h"

namespace dl::core {

namespace overlap {

// Whether two tensors of one storage have elements in common, or an output could grow into the
// other. Views between whose elements the other's lie, such as halves of rows, have none.
bool ranges_meet(const at::Tensor& written, const at::Tensor& read);
// Whether two tensors are the same elements in the same order.
bool coincide(const at::Tensor& a, const at::Tensor& b);
bool has_repeated_dim(const at::Tensor& tensor);

// Whether several elements are one in memory, as torch's own check sees it.
inline bool repeats(const at::Tensor& tensor) {
  return !tensor.is_non_overlapping_and_dense() && has_repeated_dim(tensor);
}

inline bool meets(const at::Tensor& written, const at::Tensor& read) {
  const auto* w = written.unsafeGetTensorImpl();
  const auto* r = read.unsafeGetTensorImpl();
  if (w == r) return true;
  const auto* storage = w->unsafe_storage().unsafeGetStorageImpl();
  if (C10_LIKELY(storage != r->unsafe_storage().unsafeGetStorageImpl())) return false;
  return storage != nullptr && ranges_meet(written, read);
}

template <typename T>
bool meets(const at::Tensor& written, const T& argument) {
  if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    return argument && meets(written, *argument);
  } else if constexpr (std::is_same_v<T, at::TensorList> || std::is_same_v<T, at::ITensorListRef>) {
    for (const at::Tensor& each : argument) {
      if (meets(written, each)) return true;
    }
  } else if constexpr (std::is_same_v<T, c10::List<std::optional<at::Tensor>>>) {
    for (size_t i = 0; i < argument.size(); ++i) {
      if (const std::optional<at::Tensor> each = argument.get(i); each && meets(written, *each))
        return true;
    }
  }
  return false;
}

// `may_coincide`: whether the kernel copes with the argument being the very tensor it writes to.
template <bool may_coincide, typename T>
bool entangles(const at::Tensor& written, const T& argument) {
  if (!meets(written, argument)) return false;
  if constexpr (may_coincide && std::is_same_v<T, at::Tensor>) return !coincide(written, argument);
  return true;
}

template <typename T>
inline constexpr bool kWritten = std::is_same_v<T, at::Tensor&>;

// The long way, and as a kernel; and whether it has brought this call here, with the tensors as
// they are.
void disentangle(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack);
c10::BoxedKernel disentangling();
bool is_permitted(const c10::OperatorHandle& op);
// Whether boxed arguments need the long way.
bool are_entangled(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                   size_t count);

}  // namespace overlap

}  // namespace dl::core
