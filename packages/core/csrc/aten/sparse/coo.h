// Tensors in coordinate form, as this folder's kernels see them.
#pragma once

#include <ATen/core/Tensor.h>

namespace dl::core {

// Whether `tensor` is dense, or in coordinate form, and on the device of `other`.
bool is_dense_beside(const at::Tensor& tensor, const at::Tensor& other);
bool is_coo_beside(const at::Tensor& tensor, const at::Tensor& other);

// The number of each element's place among the sparse dimensions, counted in row-major order:
// int64[nnz].
at::Tensor places_of(const at::Tensor& coo);
// `dense` with the sparse dimensions of `coo` as one: [places, dense dimensions...]. A view where
// `dense` is contiguous.
at::Tensor by_place(const at::Tensor& dense, const at::Tensor& coo);

// A new tensor, and the same as the contents of a given one.
at::Tensor make_coo(const at::Tensor& indices, const at::Tensor& values, c10::IntArrayRef sizes,
                    bool coalesced);
void fill_coo(const at::Tensor& target, const at::Tensor& indices, const at::Tensor& values,
              c10::IntArrayRef sizes, bool coalesced);

}  // namespace dl::core
