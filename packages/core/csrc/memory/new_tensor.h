// Uninitialized tensors on a dl device, allocated without the dispatcher.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core {

inline constexpr c10::DispatchKeySet kDlKeys{c10::DispatchKey::PrivateUse1};

at::Tensor empty_on(int device, c10::IntArrayRef sizes, c10::ScalarType type,
                    std::optional<c10::MemoryFormat> format = std::nullopt);
at::Tensor empty_strided_on(int device, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                            c10::ScalarType type);
// Returns a contiguous tensor with the sizes, dtype and device of `tensor`.
at::Tensor empty_contiguous_like(const at::Tensor& tensor);
at::Tensor empty_contiguous_like(const at::Tensor& tensor, caffe2::TypeMeta type);

// Returns a tensor over `storage` with the geometry and flags (conj, neg, wrapped number) of
// `view`.
at::Tensor rewrap(c10::Storage storage, const at::Tensor& view, c10::DispatchKeySet keys);

}  // namespace dl::core
