// Guard for operators that write to tensors of the caller which may share memory with their inputs.
//
// torch's kernels differ in which overlaps they reject and which they handle correctly. Here a
// guard (kernel.h) precedes every kernel that writes: for tensors that do not overlap, which is
// nearly always the case, it costs a few pointer comparisons. Otherwise the slow path follows
// torch's CPU kernel: a call that it rejects raises its error, and a call that it accepts is
// computed in separate memory.
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

// Returns true if two tensors of one storage have common elements, or if an output could grow into
// the other tensor. The left and the right columns, for example, have no common elements.
bool ranges_meet(const at::Tensor& written, const at::Tensor& read);
// Returns true if two tensors have the same elements in the same order.
bool coincide(const at::Tensor& a, const at::Tensor& b);
bool has_repeated_dim(const at::Tensor& tensor);

// Returns true if several elements share a memory location, by torch's own check.
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

// `may_coincide`: whether the kernel supports an argument that is the tensor it writes to.
template <bool may_coincide, typename T>
bool entangles(const at::Tensor& written, const T& argument) {
  if (!meets(written, argument)) return false;
  if constexpr (may_coincide && std::is_same_v<T, at::Tensor>) return !coincide(written, argument);
  return true;
}

template <typename T>
inline constexpr bool kWritten = std::is_same_v<T, at::Tensor&>;

// The slow path, and the same as a boxed kernel.
void disentangle(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack);
c10::BoxedKernel disentangle_kernel();
// Returns true if the slow path itself makes this call, with tensors that no longer overlap.
bool is_permitted(const c10::OperatorHandle& op);
// Returns true if boxed arguments need the slow path.
bool are_entangled(const OperatorInfo& info, const torch::jit::Stack& stack, size_t begin,
                   size_t count);

}  // namespace overlap

}  // namespace dl::core
