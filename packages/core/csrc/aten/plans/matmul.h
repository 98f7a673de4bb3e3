// Plans of matrix products.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool matrix_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool batched_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool added_product(OutputPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2);
bool added_batched_product(OutputPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2);

// Composes an integer addmm from a product and a sum, because the contract's operators support
// floating-point dtypes only. Returns undefined unless all operands are integers of one dtype.
Tensor added_product_of_integers(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                 const at::Scalar& beta, const at::Scalar& alpha);
Tensor added_batched_product_of_integers(const Tensor& self, const Tensor& batch1,
                                         const Tensor& batch2, const at::Scalar& beta,
                                         const at::Scalar& alpha);

}  // namespace dl::core::plans
