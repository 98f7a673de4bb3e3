#include "aten/plans/matmul.h"

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

bool expands_to(const Tensor& tensor, at::IntArrayRef sizes) {
  if (tensor.dim() > static_cast<int64_t>(sizes.size())) return false;
  for (int64_t i = 1; i <= tensor.dim(); ++i) {
    if (tensor.size(-i) != 1 && tensor.size(-i) != sizes[sizes.size() - i]) return false;
  }
  return true;
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

}  // namespace dl::core::plans
