// Plans of factorizations and of triangular systems.
#pragma once

#include <string_view>

#include "aten/plans/plan.h"

namespace dl::core::plans {

// Return true for tensors of at least two dimensions with a dtype that factorizations support.
bool are_matrices(const Tensor& self);
bool are_square(const Tensor& self);
// Returns true if the leading dimensions broadcast.
bool batches_broadcast(const Tensor& left, const Tensor& right);
// Leading dimensions, followed by `last`.
DimVector batch_of(const Tensor& self, std::initializer_list<int64_t> last);
// Leading dimensions, broadcast, followed by `last`.
DimVector sizes_of_batch(const Tensor& left, const Tensor& right,
                         std::initializer_list<int64_t> last);

bool cholesky(OutputPlan& plan, const Tensor& self);
bool triangular_solution(OutputPlan& plan, const Tensor& self, const Tensor& A);
bool qr(OutputPlan& plan, const Tensor& A, std::string_view mode);

}  // namespace dl::core::plans
