// Plans of padding.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

enum class PadKind { reflect, replicate };

namespace plans {

bool pad(OutputPlan& plan, const Tensor& self, at::IntArrayRef padding, int64_t spatial,
         PadKind kind);
bool pad_constant(OutputPlan& plan, const Tensor& self, at::IntArrayRef pad,
                  const at::Scalar& value);

}  // namespace plans
}  // namespace dl::core
