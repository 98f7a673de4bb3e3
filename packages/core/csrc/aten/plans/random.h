// Plans of random sampling.
#pragma once

#include <optional>

#include "aten/plans/plan.h"

namespace dl::core {

struct NormalValues {
  at::Tensor mean, std;
};

namespace plans {

bool random_like(OutputPlan& plan, const Tensor& model);
bool random_like_both(OutputPlan& plan, NormalValues& values, const Tensor& mean,
                      const Tensor& std);
bool random_floating(OutputPlan& plan, const Tensor& self);
// The dtype must represent the range and its width.
bool uniform(OutputPlan& plan, const Tensor& self, double from, double to);
// The dtype must represent the bounds exactly.
bool random_integers(OutputPlan& plan, const Tensor& self, int64_t from, std::optional<int64_t> to);

}  // namespace plans
}  // namespace dl::core
