// Plans of embeddings.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core::plans {

bool embedding(OutputPlan& plan, const Tensor& weight, const Tensor& indices);
bool embedding_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& indices,
                        int64_t num_weights, bool scale_grad_by_freq);
bool embedding_renorm(OutputPlan& plan, const Tensor& self, const Tensor& indices);

}  // namespace dl::core::plans
