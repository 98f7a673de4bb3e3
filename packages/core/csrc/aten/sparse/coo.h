// Helper functions for COO tensors.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core {

// Returns true if `tensor` is a dense or COO tensor on the device of `other`.
bool is_dense_beside(const at::Tensor& tensor, const at::Tensor& other);
bool is_coo_beside(const at::Tensor& tensor, const at::Tensor& other);

// Linear index of each element within the sparse dimensions, in row-major order: int64[nnz].
at::Tensor places_of(const at::Tensor& coo);
// `dense` with the sparse dimensions of `coo` flattened: [indices, dense dimensions...]. A view if
// `dense` is contiguous.
at::Tensor by_place(const at::Tensor& dense, const at::Tensor& coo);

// Returns a new COO tensor; the second function replaces the contents of a given one.
at::Tensor make_coo(const at::Tensor& indices, const at::Tensor& values, c10::IntArrayRef sizes,
                    bool coalesced);
void fill_coo(const at::Tensor& target, const at::Tensor& indices, const at::Tensor& values,
              c10::IntArrayRef sizes, bool coalesced);

}  // namespace dl::core
