// Helper functions for composed linear algebra.
#pragma once

#include <ATen/core/Tensor.h>

#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/layout/strides.h"
#include "aten/plans/linalg.h"

namespace dl::core::composed {

// Writes a result to `out`, in column-major order if `out` has to be resized.
inline Tensor& write_by_columns(Tensor& out, const Tensor& result) {
  OutputPlan plan;
  plan.start(result);
  plan.column_major_output(result.sizes(), result.scalar_type());
  if (plan.make_outputs({&out})) return out.copy_(result);
  return write_to(out, result);
}

// Same for an empty `out`; any other output gets torch's usual strides.
inline Tensor& write_to_matrices(Tensor& out, const Tensor& result) {
  return out.numel() == 0 ? write_by_columns(out, result) : write_to(out, result);
}

// Returns the matrices in column-major order, as torch's linear algebra does, including empty ones.
inline Tensor by_columns(const Tensor& result) { return arrange(result.mT()).mT(); }

inline bool is_target_for(const Tensor& out, const Tensor& self) {
  return out.scalar_type() == self.scalar_type() && out.device() == self.device();
}

}  // namespace dl::core::composed
