// Plans of matrix products.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool matrix_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool batched_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool added_product(OutputPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2);
bool added_batched_product(OutputPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2);

}  // namespace dl::core::plans
