// COO tensors: dense indices of their elements, and summation of elements with equal indices.
#include "aten/sparse/coo.h"

#include <ATen/DimVector.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/zeros.h>
#include <c10/util/accumulate.h>
#include <torch/library.h>

#include <vector>

#include "aten/sparse/kernel.h"
#include "aten/sparse/sparse_fallback.h"

namespace dl::core {
namespace {

at::SparseTensorImpl* sparse_impl(const at::Tensor& coo) {
  return static_cast<at::SparseTensorImpl*>(coo.unsafeGetTensorImpl());
}

// In row-major order; all zeros if there are no dimensions.
at::Tensor flatten_indices(const at::Tensor& indices, c10::IntArrayRef sizes) {
  if (sizes.empty()) return at::zeros({indices.size(1)}, indices.options());
  at::Tensor places = indices.select(0, 0);
  for (size_t dim = 1; dim < sizes.size(); ++dim)
    places = places * sizes[dim] + indices.select(0, static_cast<int64_t>(dim));
  return places;
}

// Sums elements with equal indices; the results are in row-major order.
at::Tensor coalesce(const at::Tensor& self) {
  const at::Tensor indices = self._indices(), values = self._values();
  if (self._nnz() < 2) return make_coo(indices.clone(), values.clone(), self.sizes(), true);
  const auto [places, element, unused] = at::_unique2(places_of(self), true, true);
  const int64_t count = places.numel();
  const at::Tensor joined = at::zeros({indices.size(0), count}, indices.options());
  // Elements with equal indices write the same value.
  joined.index_copy_(1, element, indices);
  at::DimVector sizes(values.sizes().begin(), values.sizes().end());
  sizes[0] = count;
  at::Tensor sums = at::zeros(sizes, values.options());
  if (values.numel() > 0) sums.index_add_(0, element, values);
  return make_coo(joined, sums, self.sizes(), true);
}

// Returns the elements of a dense tensor at the indices of `mask`.
at::Tensor sparse_mask(const at::Tensor& self, const at::Tensor& mask) {
  if (!is_dense_beside(self, mask) || !is_coo_beside(mask, self) || self.sizes() != mask.sizes())
    return sparse_on_cpu<"sparse_mask", decltype(sparse_mask)>(self, mask);
  const at::Tensor values = by_place(self, mask).index_select(0, places_of(mask));
  return make_coo(mask._indices().clone(), values, mask.sizes(), mask.is_coalesced());
}

}  // namespace

bool is_dense_beside(const at::Tensor& tensor, const at::Tensor& other) {
  return tensor.layout() == at::kStrided && tensor.device() == other.device();
}

bool is_coo_beside(const at::Tensor& tensor, const at::Tensor& other) {
  return tensor.layout() == at::kSparse && tensor.device() == other.device();
}

at::Tensor places_of(const at::Tensor& coo) {
  return flatten_indices(coo._indices(), coo.sizes().slice(0, coo.sparse_dim()));
}

at::Tensor by_place(const at::Tensor& dense, const at::Tensor& coo) {
  const auto sizes = coo.sizes();
  const int64_t dims = coo.sparse_dim();
  at::DimVector shape{c10::multiply_integers(sizes.begin(), sizes.begin() + dims)};
  shape.append(sizes.begin() + dims, sizes.end());
  return dense.reshape(shape);
}

at::Tensor make_coo(const at::Tensor& indices, const at::Tensor& values, c10::IntArrayRef sizes,
                    bool coalesced) {
  const auto options = values.options().layout(at::kSparse);
  return at::_sparse_coo_tensor_unsafe(indices, values, sizes, options, coalesced);
}

void fill_coo(const at::Tensor& target, const at::Tensor& indices, const at::Tensor& values,
              c10::IntArrayRef sizes, bool coalesced) {
  auto* impl = sparse_impl(target);
  impl->raw_resize_(indices.size(0), values.dim() - 1, sizes);
  impl->set_indices_and_values_unsafe(indices, values);
  impl->set_coalesced(coalesced);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, library) {
  DL_SPARSE("_coalesce", coalesce);
  DL_SPARSE("sparse_mask", sparse_mask);
}

}  // namespace dl::core

// torch's checks and kernels of sparse tensors flatten indices through this stub. The header that
// declares it is not installed.
namespace at::native {
using flatten_indices_fn = Tensor (*)(const Tensor& indices, IntArrayRef size);
DECLARE_DISPATCH(flatten_indices_fn, flatten_indices_stub)
REGISTER_PRIVATEUSE1_DISPATCH(flatten_indices_stub, &dl::core::flatten_indices)
}  // namespace at::native
