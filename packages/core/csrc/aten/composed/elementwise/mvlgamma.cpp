// Logarithm of the multivariate gamma function, out= form.
#include <ATen/core/Tensor.h>
#include <ATen/ops/mvlgamma.h>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

at::Tensor& mvlgamma_out(const at::Tensor& self, int64_t p, at::Tensor& out) {
  return write_to(out, at::mvlgamma(self, p));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("mvlgamma.out", mvlgamma_out); }

}  // namespace dl::core::composed
