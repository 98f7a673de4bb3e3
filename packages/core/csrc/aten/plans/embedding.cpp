#include "aten/plans/embedding.h"

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::plans {

bool embedding(OutputPlan& plan, const Tensor& weight, const Tensor& indices) {
  if (!alike(weight) || !on_same_device(weight, indices) || !is_index(indices) || weight.dim() != 2)
    return false;
  DimVector sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(1));
  plan.start(weight);
  plan.output(sizes, weight.scalar_type());
  return true;
}

bool embedding_backward(OutputPlan& plan, const Tensor& grad_output, const Tensor& indices,
                        int64_t num_weights, bool) {
  if (!alike(grad_output) || !on_same_device(grad_output, indices) || !is_index(indices))
    return false;
  if (grad_output.dim() == 0) return false;
  plan.start(grad_output);
  plan.output({num_weights, grad_output.size(-1)}, grad_output.scalar_type());
  return true;
}

bool embedding_renorm(OutputPlan& plan, const Tensor& self, const Tensor& indices) {
  return floating(self) && self.dim() == 2 && on_same_device(self, indices) && is_index(indices) &&
         in_place(plan, self);
}

}  // namespace dl::core::plans
