#include "aten/plans/linalg.h"

#include <ATen/ExpandUtils.h>

#include <algorithm>

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

at::IntArrayRef leading(const Tensor& self) { return self.sizes().slice(0, self.dim() - 2); }

}  // namespace

bool are_matrices(const Tensor& self) {
  return alike(self) && self.dim() >= 2 &&
         (self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble ||
          self.scalar_type() == at::kComplexFloat || self.scalar_type() == at::kComplexDouble);
}

bool are_square(const Tensor& self) { return are_matrices(self) && self.size(-2) == self.size(-1); }

bool batches_broadcast(const Tensor& left, const Tensor& right) {
  for (int64_t d = 3; d <= std::min(left.dim(), right.dim()); ++d) {
    const int64_t a = left.size(-d), b = right.size(-d);
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

DimVector batch_of(const Tensor& self, std::initializer_list<int64_t> last) {
  DimVector sizes(self.sizes().begin(), self.sizes().end() - 2);
  sizes.append(last.begin(), last.end());
  return sizes;
}

DimVector sizes_of_batch(const Tensor& left, const Tensor& right,
                         std::initializer_list<int64_t> last) {
  const auto joined = at::infer_size_dimvector(leading(left), leading(right));
  DimVector sizes(joined.begin(), joined.end());
  sizes.append(last.begin(), last.end());
  return sizes;
}

bool cholesky(OutputPlan& plan, const Tensor& self) {
  if (!are_square(self)) return false;
  plan.start(self);
  plan.column_major_output(self.sizes(), self.scalar_type());
  plan.output(batch_of(self, {}), at::kInt);
  return true;
}

bool triangular_solution(OutputPlan& plan, const Tensor& self, const Tensor& A) {
  if (!are_square(A) || !are_matrices(self) || !alike(A, self) || self.size(-2) != A.size(-1) ||
      !batches_broadcast(self, A))
    return false;
  const int64_t n = A.size(-1);
  plan.start(self);
  plan.column_major_output(sizes_of_batch(self, A, {n, self.size(-1)}), self.scalar_type());
  plan.column_major_output(sizes_of_batch(self, A, {n, n}), self.scalar_type());
  return true;
}

bool qr(OutputPlan& plan, const Tensor& A, std::string_view mode) {
  if (!are_matrices(A) || (mode != "reduced" && mode != "complete" && mode != "r")) return false;
  const int64_t m = A.size(-2), n = A.size(-1), k = mode == "complete" ? m : std::min(m, n);
  plan.start(A);
  if (mode == "r") {
    plan.output({0}, A.scalar_type());
  } else {
    plan.column_major_output(batch_of(A, {m, k}), A.scalar_type());
  }
  plan.column_major_output(batch_of(A, {k, n}), A.scalar_type());
  return true;
}

}  // namespace dl::core::plans
