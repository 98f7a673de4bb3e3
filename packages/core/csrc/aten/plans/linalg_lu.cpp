#include "aten/plans/linalg_lu.h"

#include <algorithm>

#include "aten/plans/linalg.h"

namespace dl::core::plans {

bool lu(OutputPlan& plan, const Tensor& A, bool pivot) {
  if (!are_matrices(A) || !pivot) return false;
  plan.start(A);
  plan.column_major_output(A.sizes(), A.scalar_type());
  plan.output(batch_of(A, {std::min(A.size(-2), A.size(-1))}), at::kInt);
  plan.output(batch_of(A, {}), at::kInt);
  return true;
}

}  // namespace dl::core::plans
