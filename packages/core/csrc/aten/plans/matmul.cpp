#include "aten/plans/matmul.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include "aten/plans/checks.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::plans {
namespace {

bool expands_to(const Tensor& tensor, at::IntArrayRef sizes) {
  if (tensor.dim() > static_cast<int64_t>(sizes.size())) return false;
  for (int64_t i = 1; i <= tensor.dim(); ++i) {
    if (tensor.size(-i) != 1 && tensor.size(-i) != sizes[sizes.size() - i]) return false;
  }
  return true;
}

bool are_integers(const Tensor& self, const at::Scalar& beta, const at::Scalar& alpha) {
  const c10::ScalarType type = self.scalar_type();
  return c10::isIntegralType(type, false) && beta.isIntegral(false) && alpha.isIntegral(false) &&
         holds(type, beta) && holds(type, alpha);
}

Tensor scaled_sum(const Tensor& self, Tensor product, const at::Scalar& beta,
                  const at::Scalar& alpha) {
  if (!alpha.equal(1)) product.mul_(alpha);
  if (!beta.equal(0)) product.add_(self, beta);
  return product;
}

}  // namespace

bool matrix_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2) {
  if (!alike(self, mat2) || self.dim() != 2 || mat2.dim() != 2 || self.size(1) != mat2.size(0))
    return false;
  plan.start(self);
  plan.output({self.size(0), mat2.size(1)}, self.scalar_type());
  return true;
}

bool batched_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2) {
  if (!alike(self, mat2) || self.dim() != 3 || mat2.dim() != 3) return false;
  if (self.size(0) != mat2.size(0) || self.size(2) != mat2.size(1)) return false;
  plan.start(self);
  plan.output({self.size(0), self.size(1), mat2.size(2)}, self.scalar_type());
  return true;
}

bool added_product(OutputPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  if (!alike(mat1, self) || !matrix_product(plan, mat1, mat2)) return false;
  return floating(mat1) && expands_to(self, {mat1.size(0), mat2.size(1)});
}

bool added_batched_product(OutputPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2) {
  if (!alike(batch1, self) || !batched_product(plan, batch1, batch2)) return false;
  return floating(batch1) && expands_to(self, {batch1.size(0), batch1.size(1), batch2.size(2)});
}

Tensor added_product_of_integers(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                 const at::Scalar& beta, const at::Scalar& alpha) {
  if (!alike(mat1, self, mat2) || !are_integers(self, beta, alpha) || mat1.dim() != 2 ||
      mat2.dim() != 2 || mat1.size(1) != mat2.size(0) ||
      !expands_to(self, {mat1.size(0), mat2.size(1)}))
    return {};
  return scaled_sum(self, at::mm(mat1, mat2), beta, alpha);
}

Tensor added_batched_product_of_integers(const Tensor& self, const Tensor& batch1,
                                         const Tensor& batch2, const at::Scalar& beta,
                                         const at::Scalar& alpha) {
  if (!alike(batch1, self, batch2) || !are_integers(self, beta, alpha) || batch1.dim() != 3 ||
      batch2.dim() != 3 || batch1.size(0) != batch2.size(0) || batch1.size(2) != batch2.size(1) ||
      !expands_to(self, {batch1.size(0), batch1.size(1), batch2.size(2)}))
    return {};
  return scaled_sum(self, at::bmm(batch1, batch2), beta, alpha);
}

}  // namespace dl::core::plans
