// Plans of matrix products.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool matrix_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool batched_product(OutputPlan& plan, const Tensor& self, const Tensor& mat2);
bool added_product(OutputPlan& plan, const Tensor& self, const Tensor& mat1, const Tensor& mat2);
bool added_batched_product(OutputPlan& plan, const Tensor& self, const Tensor& batch1,
                           const Tensor& batch2);

// From the product and a sum, where the contract's operators with a summand take floats only.
// Undefined for what are no integers of one dtype.
Tensor added_product_of_integers(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                 const at::Scalar& beta, const at::Scalar& alpha);
Tensor added_batched_product_of_integers(const Tensor& self, const Tensor& batch1,
                                         const Tensor& batch2, const at::Scalar& beta,
                                         const at::Scalar& alpha);

}  // namespace dl::core::plans
