// Plans of Bernoulli sampling.
#pragma once

#include "aten/plans/plan.h"
#include "aten/plans/random.h"

namespace dl::core {

// Operands expanded to the shape of the result.
struct BernoulliValues {
  at::Tensor probabilities;
};

namespace plans {

bool bernoulli_probabilities(OutputPlan& plan, BernoulliValues& values, const Tensor& self,
                             const Tensor& p);

}  // namespace plans
}  // namespace dl::core
