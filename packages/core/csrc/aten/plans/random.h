// Plans of random numbers.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core {

struct NormalValues {
  at::Tensor mean, std;
};

namespace plans {

bool drawn_like(OutputPlan& plan, const Tensor& model);
bool drawn_like_both(OutputPlan& plan, NormalValues& values, const Tensor& mean, const Tensor& std);
bool random_floating(OutputPlan& plan, const Tensor& self);
// A range that the dtype holds, its width too.
bool uniform(OutputPlan& plan, const Tensor& self, double from, double to);
// Bounds that the dtype holds exactly.
bool random_integers(OutputPlan& plan, const Tensor& self, int64_t from, std::optional<int64_t> to);

}  // namespace plans
}  // namespace dl::core
