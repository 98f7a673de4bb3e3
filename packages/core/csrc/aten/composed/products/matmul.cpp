// Products that are composed of matmul.
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>

#include "aten/fallback/fallback_typed.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/resize_output.h"
#include "memory/new_tensor.h"

namespace dl::core::composed {
namespace {

// Return true for floating-point tensors of one dtype on one device, which the contract's addmm
// family supports. torch's own kernels handle the rest and raise the errors.
bool products_take(const Tensor& self, const Tensor& left, const Tensor& right) {
  return at::isFloatingType(self.scalar_type()) && self.scalar_type() == left.scalar_type() &&
         self.scalar_type() == right.scalar_type() && self.device() == left.device() &&
         self.device() == right.device();
}

// Same, but also true for integers with integral scalars: integer products are composed.
bool sums_take(const Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta,
               const Scalar& alpha) {
  if (products_take(self, left, right)) return true;
  return at::isIntegralType(self.scalar_type(), false) &&
         self.scalar_type() == left.scalar_type() && self.scalar_type() == right.scalar_type() &&
         self.device() == left.device() && self.device() == right.device() &&
         beta.isIntegral(false) && alpha.isIntegral(false);
}

bool is_target(const Tensor& out, const Tensor& self) {
  return out.scalar_type() == self.scalar_type() && out.device() == self.device();
}

// Returns true if `self` has these sizes or broadcasts to them.
bool spreads_to(const Tensor& self, at::IntArrayRef sizes) {
  if (self.dim() > static_cast<int64_t>(sizes.size())) return false;
  for (int64_t d = 1; d <= self.dim(); ++d) {
    if (self.size(-d) != 1 && self.size(-d) != sizes[sizes.size() - d]) return false;
  }
  return true;
}

bool is_matrix_times_vector(const Tensor& mat, const Tensor& vec) {
  return sums_take(vec, mat, vec, 1, 1) && mat.dim() == 2 && vec.dim() == 1 &&
         mat.size(1) == vec.size(0);
}
bool is_matrix_times_vector(const Tensor& self, const Tensor& mat, const Tensor& vec,
                            const Scalar& beta, const Scalar& alpha) {
  return sums_take(self, mat, vec, beta, alpha) && is_matrix_times_vector(mat, vec) &&
         spreads_to(self, {mat.size(0)});
}

// A vector as a column, and a new column of `rows` as a vector. Both avoid dispatcher calls, which
// would take as long as a small product.
Tensor column_of(const Tensor& vector) {
  Tensor column = rewrap(vector.storage(), vector, vector.key_set());
  column.unsafeGetTensorImpl()->set_sizes_and_strides(at::IntArrayRef({vector.size(0), 1}),
                                                      at::IntArrayRef({vector.stride(0), 1}),
                                                      vector.storage_offset());
  return column;
}
Tensor as_column(const Tensor& summand) {
  return summand.dim() == 0 ? summand : column_of(summand);
}
Tensor flatten_column(Tensor column, int64_t rows) {
  column.unsafeGetTensorImpl()->set_sizes_contiguous({rows});
  return column;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  if (is_matrix_times_vector(self, vec))
    return flatten_column(at::mm(self, column_of(vec)), self.size(0));
  return on_cpu<"mv", decltype(mv)>(self, vec);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  if (is_matrix_times_vector(self, mat, vec, beta, alpha))
    return flatten_column(at::addmm(as_column(self), mat, column_of(vec), beta, alpha),
                          mat.size(0));
  return on_cpu<"addmv", decltype(addmv)>(self, mat, vec, beta, alpha);
}

Tensor& addmv_out(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                  const Scalar& alpha, Tensor& out) {
  if (is_matrix_times_vector(self, mat, vec, beta, alpha) && is_target(out, self)) {
    at::native::resize_output(out, {mat.size(0)});
    Tensor column = column_of(out);
    at::addmm_out(column, as_column(self), mat, column_of(vec), beta, alpha);
    return out;
  }
  return on_cpu<"addmv.out", decltype(addmv_out)>(self, mat, vec, beta, alpha, out);
}

Tensor& addmv_(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
               const Scalar& alpha) {
  if (is_matrix_times_vector(self, mat, vec, beta, alpha) && self.dim() == 1 &&
      self.size(0) == mat.size(0))
    return addmv_out(self, mat, vec, beta, alpha, self);
  return on_cpu<"addmv_", decltype(addmv_)>(self, mat, vec, beta, alpha);
}

Tensor& addmm_(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
               const Scalar& alpha) {
  if (sums_take(self, mat1, mat2, beta, alpha) && mat1.dim() == 2 && mat2.dim() == 2 &&
      self.dim() == 2 && self.size(0) == mat1.size(0) && self.size(1) == mat2.size(1))
    return at::addmm_out(self, self, mat1, mat2, beta, alpha);
  return on_cpu<"addmm_", decltype(addmm_)>(self, mat1, mat2, beta, alpha);
}

Tensor& baddbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                 const Scalar& alpha) {
  if (sums_take(self, batch1, batch2, beta, alpha) && batch1.dim() == 3 && batch2.dim() == 3 &&
      self.sizes() == at::IntArrayRef({batch1.size(0), batch1.size(1), batch2.size(2)}))
    return at::baddbmm_out(self, self, batch1, batch2, beta, alpha);
  return on_cpu<"baddbmm_", decltype(baddbmm_)>(self, batch1, batch2, beta, alpha);
}

bool is_sum_of_products(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                        const Scalar& beta, const Scalar& alpha) {
  return sums_take(self, batch1, batch2, beta, alpha) && batch1.dim() == 3 && batch2.dim() == 3 &&
         batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1) &&
         spreads_to(self, {batch1.size(1), batch2.size(2)});
}

// Concatenates the matrices of a batch horizontally, so that the sum over the batch becomes part of
// product's reduction.
Tensor side_by_side(const Tensor& batch) {
  return batch.permute({1, 0, 2}).reshape({batch.size(1), batch.size(0) * batch.size(2)});
}
Tensor one_below_the_other(const Tensor& batch) {
  return batch.reshape({batch.size(0) * batch.size(1), batch.size(2)});
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  if (is_sum_of_products(self, batch1, batch2, beta, alpha))
    return at::addmm(self, side_by_side(batch1), one_below_the_other(batch2), beta, alpha);
  return on_cpu<"addbmm", decltype(addbmm)>(self, batch1, batch2, beta, alpha);
}

Tensor& addbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   const Scalar& beta, const Scalar& alpha, Tensor& out) {
  if (is_sum_of_products(self, batch1, batch2, beta, alpha) && is_target(out, self))
    return at::addmm_out(out, self, side_by_side(batch1), one_below_the_other(batch2), beta, alpha);
  return on_cpu<"addbmm.out", decltype(addbmm_out)>(self, batch1, batch2, beta, alpha, out);
}

Tensor& addbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                const Scalar& alpha) {
  if (is_sum_of_products(self, batch1, batch2, beta, alpha) &&
      self.sizes() == at::IntArrayRef({batch1.size(1), batch2.size(2)}))
    return addbmm_out(self, batch1, batch2, beta, alpha, self);
  return on_cpu<"addbmm_", decltype(addbmm_)>(self, batch1, batch2, beta, alpha);
}

bool is_outer_product(const Tensor& self, const Tensor& vec1, const Tensor& vec2) {
  return products_take(self, vec1, vec2) && vec1.dim() == 1 && vec2.dim() == 1 &&
         spreads_to(self, {vec1.size(0), vec2.size(0)});
}

// Allocates the result as an elementwise operator on all three tensors would.
Tensor memory_for_outer(const Tensor& self, const Tensor& vec1, const Tensor& vec2) {
  Tensor out;
  at::TensorIteratorConfig config;
  config.add_output(out).add_const_input(self);
  config.add_owned_const_input(vec1.unsqueeze(1)).add_const_input(vec2);
  return config.build().output();
}

// Return true for scalars that are not boolean, which torch rejects with an error.
bool scales(const Scalar& beta, const Scalar& alpha) {
  return !beta.isBoolean() && !alpha.isBoolean() && !alpha.equal(0);
}

// An alpha of 0 is handled separately: 0 times an infinity is NaN, whereas matrix products ignore
// their operands.
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  if (is_outer_product(self, vec1, vec2) && scales(beta, alpha)) {
    Tensor out = memory_for_outer(self, vec1, vec2);
    return at::addmm_out(out, self, vec1.unsqueeze(1), vec2.unsqueeze(0), beta, alpha);
  }
  return on_cpu<"addr", decltype(addr)>(self, vec1, vec2, beta, alpha);
}

Tensor& addr_out(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                 const Scalar& alpha, Tensor& out) {
  if (is_outer_product(self, vec1, vec2) && scales(beta, alpha) && is_target(out, self))
    return at::addmm_out(out, self, vec1.unsqueeze(1), vec2.unsqueeze(0), beta, alpha);
  return on_cpu<"addr.out", decltype(addr_out)>(self, vec1, vec2, beta, alpha, out);
}

Tensor& addr_(Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
              const Scalar& alpha) {
  if (is_outer_product(self, vec1, vec2) && scales(beta, alpha) &&
      self.sizes() == at::IntArrayRef({vec1.size(0), vec2.size(0)}))
    return addr_out(self, vec1, vec2, beta, alpha, self);
  return on_cpu<"addr_", decltype(addr_)>(self, vec1, vec2, beta, alpha);
}

Tensor addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                        const Scalar& beta, const Scalar& alpha, bool use_gelu) {
  Tensor result = at::addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? at::gelu_(result) : at::relu_(result);
}

Tensor& addmm_activation_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha, bool use_gelu, Tensor& out) {
  at::addmm_out(out, self, mat1, mat2, beta, alpha);
  return use_gelu ? at::gelu_(out) : at::relu_(out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("mv", mv);
  DL_COMPOSED("addmv", addmv);
  DL_COMPOSED("addmv.out", addmv_out);
  DL_COMPOSED("addmv_", addmv_);
  DL_COMPOSED("addmm_", addmm_);
  DL_COMPOSED("baddbmm_", baddbmm_);
  DL_COMPOSED("addbmm", addbmm);
  DL_COMPOSED("addbmm.out", addbmm_out);
  DL_COMPOSED("addbmm_", addbmm_);
  DL_COMPOSED("addr", addr);
  DL_COMPOSED("addr.out", addr_out);
  DL_COMPOSED("addr_", addr_);
  DL_COMPOSED("_addmm_activation", addmm_activation);
  DL_COMPOSED("_addmm_activation.out", addmm_activation_out);
}

}  // namespace dl::core::composed
