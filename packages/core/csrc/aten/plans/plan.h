// What every plan function has: a plan function checks that the arguments are ones the contract
// covers and describes the outputs. False sends the call to the fallback, where torch's kernels
// word the errors.
//
// The second parameter, where there is one of a type named ...Values, takes what the function works
// out for the contract call: the table's `plan.dim` is its member `dim`.
#pragma once

#include <optional>

#include "aten/output_plan.h"

namespace dl::core {

// A dimension counted from the front.
struct AxisValues {
  int64_t dim = 0;
};

namespace plans {

using at::Tensor;
using OptionalTensor = std::optional<at::Tensor>;
using OptionalType = std::optional<at::ScalarType>;

}  // namespace plans
}  // namespace dl::core
