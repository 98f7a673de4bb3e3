// Trace of a matrix.
#include <ATen/core/Tensor.h>
#include <ATen/ops/sum.h>

#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

at::Tensor trace(const at::Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got a tensor with ", self.dim(),
              " dimensions.");
  if (self.scalar_type() == at::kBool) return on_cpu<"trace", decltype(trace)>(self);
  return at::sum(self.diagonal());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("trace", trace); }

}  // namespace dl::core::composed
