// Plans of optimiser steps and of the scaling of gradients.
#pragma once

#include "aten/plans.h"

namespace dl::core::plans {

bool loss_scale(DirectPlan& plan, const Tensor& scale, const Tensor& growth_tracker,
                const Tensor& found_inf);

}  // namespace dl::core::plans
