// Plans of random numbers.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

// Outputs like an operand, or like two that broadcast, all floating.
bool drawn_like(DirectPlan& plan, const Tensor& model);
bool drawn_like_both(DirectPlan& plan, const Tensor& first, const Tensor& second);
// A range that the dtype holds, its width too.
bool uniform(DirectPlan& plan, const Tensor& self, double from, double to);
bool chances(DirectPlan& plan, const Tensor& self, const Tensor& p);
// Bounds that the dtype holds exactly.
bool random_integers(DirectPlan& plan, const Tensor& self, int64_t from, std::optional<int64_t> to);
bool multinomial(DirectPlan& plan, const Tensor& self, int64_t num_samples, bool replacement);

}  // namespace dl::core::plans
