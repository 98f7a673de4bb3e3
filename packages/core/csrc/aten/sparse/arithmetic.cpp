// Elementwise sums and products. torch's functional and in-place forms call these out= forms.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include "aten/layout/resize_output.h"
#include "aten/sparse/coo.h"
#include "aten/sparse/kernel.h"
#include "aten/sparse/sparse_fallback.h"

namespace dl::core {
namespace {

// dense + alpha * coo. As on the CPU, narrow dtypes are rounded after each addition.
void add_to_dense(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha,
                  at::Tensor& out, at::ScalarType type) {
  // index_add_ modifies its first argument.
  at::Tensor sum = self.to(type, false, true, at::MemoryFormat::Contiguous);
  const at::Tensor values = other._values().to(type);
  if (values.numel() > 0) by_place(sum, other).index_add_(0, places_of(other), values, alpha);
  at::native::resize_output(out, self.sizes());
  out.copy_(sum);
}

// Adds two COO tensors by concatenating their elements.
void join(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::Tensor& out,
          at::ScalarType type) {
  const at::Tensor scaled = other._values().to(type).mul(alpha);
  const at::Tensor indices = at::cat({self._indices(), other._indices()}, 1);
  const at::Tensor values = at::cat({self._values().to(type), scaled.to(type)}, 0);
  if (!self.is_coalesced() || !other.is_coalesced()) {
    fill_coo(out, indices, values.to(out.scalar_type()), self.sizes(), false);
    return;
  }
  const at::Tensor sum = make_coo(indices, values, self.sizes(), false).coalesce();
  fill_coo(out, sum._indices(), sum._values().to(out.scalar_type()), self.sizes(), true);
}

bool are_alike(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.sparse_dim() == b.sparse_dim();
}

at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha,
                    at::Tensor& out) {
  const at::ScalarType type = at::result_type(self, other);
  // If it does not fit, torch raises the error.
  const bool fits =
      self.sizes() == other.sizes() && c10::canCast(type, out.scalar_type()) &&
      (c10::isFloatingType(type) || alpha.isIntegral(false) || c10::isComplexType(type));
  if (fits && is_dense_beside(self, other) && is_coo_beside(other, self) &&
      is_dense_beside(out, self)) {
    add_to_dense(self, other, alpha, out, type);
  } else if (fits && is_coo_beside(self, other) && is_coo_beside(other, self) &&
             is_coo_beside(out, self) && are_alike(self, other)) {
    join(self, other, alpha, out, type);
  } else {
    return sparse_on_cpu<"add.out", decltype(add_out)>(self, other, alpha, out);
  }
  return out;
}

bool is_number(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.dim() == 0;
}

// The values of coo * other if `other` is a scalar or dense, otherwise undefined.
at::Tensor product(const at::Tensor& coo, const at::Tensor& other) {
  if (is_number(other)) return coo._values().mul(other);
  if (!is_dense_beside(other, coo) || other.sizes() != coo.sizes()) return {};
  return coo._values().mul(by_place(other, coo).index_select(0, places_of(coo)));
}

at::Tensor& mul_out(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  const bool first = self.layout() == at::kSparse;
  const at::Tensor& coo = first ? self : other;
  const at::ScalarType type = at::result_type(self, other);
  at::Tensor values;
  if (is_coo_beside(coo, out) && out.layout() == at::kSparse &&
      c10::canCast(type, out.scalar_type())) {
    values = product(coo, first ? other : self);
  }
  if (!values.defined()) return sparse_on_cpu<"mul.out", decltype(mul_out)>(self, other, out);
  fill_coo(out, coo._indices().clone(), values.to(out.scalar_type()), coo.sizes(),
           coo.is_coalesced());
  return out;
}

// Adds a compressed tensor to a dense one, through COO.
at::Tensor& add_compressed_out(const at::Tensor& self, const at::Tensor& other,
                               const at::Scalar& alpha, at::Tensor& out) {
  if (self.layout() != at::kStrided || other.dim() != 2 || other.dense_dim() != 0 ||
      !is_dense_beside(self, other) || !is_dense_beside(out, other)) {
    return sparse_on_cpu<"add.out", decltype(add_out)>(self, other, alpha, out);
  }
  return add_out(self, other.to_sparse(), alpha, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, library) {
  DL_SPARSE("add.out", add_out);
  DL_SPARSE("mul.out", mul_out);
}
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, library) {
  DL_SPARSE("add.out", add_compressed_out);
}

}  // namespace dl::core
