// Outputs that callers give to composed operators.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>


// From ATen/native/Resize.h, which includes every operator of ATen.
namespace at::native {
TORCH_API bool resize_output(const Tensor& output, IntArrayRef shape);
}

namespace dl::core {

// Throws as torch does when `out` cannot take a result of `type` beside `self`.
inline void check_out(const at::Tensor& out, const at::Tensor& self, c10::ScalarType type) {
  TORCH_CHECK(out.scalar_type() == type, "Expected out tensor to have dtype ", type, ", but got ",
              out.scalar_type(), " instead");
  TORCH_CHECK(out.device() == self.device(), "Expected out tensor to have device ", self.device(),
              ", but got ", out.device(), " instead");
}

// `out` becomes a copy of `self`, for an operator that then works in place.
inline void start_out(at::Tensor& out, const at::Tensor& self) {
  check_out(out, self, self.scalar_type());
  if (out.is_same(self)) return;
  at::native::resize_output(out, self.sizes());
  at::assert_no_overlap(out, self);
  out.copy_(self);
}

// `out` takes the finished `result`.
inline at::Tensor& finish_out(at::Tensor& out, const at::Tensor& result) {
  check_out(out, result, result.scalar_type());
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

}  // namespace dl::core
