// Common declarations of plan functions. A plan function checks that the contract covers the
// arguments and describes the outputs, including their memory formats (layout propagation). If it
// returns false, the call goes to the fallback, where torch's kernels raise the errors.
//
// A second parameter of a type named ...Values receives values that the function computes for the
// contract call: `plan.dim` in the table is its member `dim`.
#pragma once

#include <optional>

#include "aten/layout/aliases.h"
#include "aten/plans/output_plan.h"

namespace dl::core {

// A dimension, wrapped to be nonnegative.
struct AxisValues {
  int64_t dim = 0;
};

namespace plans {}  // namespace plans
}  // namespace dl::core
