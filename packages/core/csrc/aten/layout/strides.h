// Strides of results. Strides of size-1 dimensions do not affect the memory layout, but determine
// the memory format that torch detects, so they equal torch's too.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>

namespace dl::core {

// Returns true if the strides are those of a new contiguous tensor of the same sizes.
inline bool has_standard_strides(const c10::TensorImpl* impl) {
  const c10::IntArrayRef sizes = impl->sizes(), strides = impl->strides();
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (strides[d] != expected) return false;
    if (sizes[d] > 1) expected *= sizes[d];
  }
  return true;
}

// Returns the strides of a new tensor of this memory format.
at::DimVector strides_of(c10::IntArrayRef sizes, c10::MemoryFormat format);

// Returns `tensor` with the strides of a new tensor of this memory format.
at::Tensor arrange(const at::Tensor& tensor,
                   c10::MemoryFormat format = c10::MemoryFormat::Contiguous);

// Returns the matrix in column-major order.
at::Tensor arrange_by_columns(const at::Tensor& matrix);

// Returns `result` with the strides of torch's indexing: dimensions of `self` that are not indexed
// keep their order in memory. `indices` has an undefined tensor for each of those dimensions.
at::Tensor arrange_as_indexed(const at::Tensor& result, const at::Tensor& self,
                              at::TensorList indices);

}  // namespace dl::core
