// Results that are written to the caller's tensors.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include "aten/layout/resize_output.h"

namespace dl::core {

// Throws as torch does unless `out` has dtype `type` and the device of `self`.
inline void check_out(const at::Tensor& out, const at::Tensor& self, c10::ScalarType type) {
  TORCH_CHECK(out.scalar_type() == type, "Expected out tensor to have dtype ", type, ", but got ",
              out.scalar_type(), " instead");
  TORCH_CHECK(out.device() == self.device(), "Expected out tensor to have device ", self.device(),
              ", but got ", out.device(), " instead");
}

// Copies `self` to `out`, for an operator that then runs in place.
inline void start_out(at::Tensor& out, const at::Tensor& self) {
  check_out(out, self, self.scalar_type());
  if (out.is_same(self)) return;
  at::native::resize_output(out, self.sizes());
  at::assert_no_overlap(out, self);
  out.copy_(self);
}

enum class OutputDtype {
  castable,  // converted if torch would convert it
  same,      // another dtype is an error
};

// Returns true if `out`, the tensor of an out= form, can receive `made`, which may be undefined.
inline bool fits_result(const at::Tensor& out, const at::Tensor& made) {
  return made.defined() && out.device() == made.device() && out.dtype() == made.dtype();
}

// Writes a finished result; resizes `out` as torch does.
inline at::Tensor& write_to(at::Tensor& out, const at::Tensor& result,
                            OutputDtype dtype = OutputDtype::castable) {
  check_out(out, result, dtype == OutputDtype::same ? result.scalar_type() : out.scalar_type());
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), "result type ",
              result.scalar_type(), " can't be cast to the desired output type ",
              out.scalar_type());
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

}  // namespace dl::core
