#include "aten/plans/softmax.h"

#include <algorithm>

#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

bool start(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim) {
  const int64_t rank = std::max<int64_t>(self.dim(), 1);
  if (!alike(self) || !floating(self) || dim < -rank || dim >= rank) return false;
  plan.start(self);
  values.dim = dim < 0 ? dim + rank : dim;
  return true;
}

}  // namespace

bool softmax(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
             bool half_to_float) {
  if (!start(plan, values, self, dim)) return false;
  if (half_to_float && !c10::isReducedFloatingType(self.scalar_type())) return false;
  plan.output(self.sizes(), half_to_float ? at::kFloat : self.scalar_type());
  return true;
}

bool softmax_backward(OutputPlan& plan, AxisValues& values, const Tensor& grad_output,
                      const Tensor& output, int64_t dim, at::ScalarType input_dtype) {
  if (!alike(grad_output, output) || grad_output.sizes() != output.sizes()) return false;
  const bool narrowed =
      output.scalar_type() == at::kFloat && c10::isReducedFloatingType(input_dtype);
  if (input_dtype != output.scalar_type() && !narrowed) return false;
  if (!start(plan, values, output, dim)) return false;
  plan.output(output.sizes(), input_dtype);
  return true;
}

}  // namespace dl::core::plans
