// The family of _stable_abi_stable.cpp with torch's C++ interface, which changes with each release.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "_stable_abi_kernel.h"

namespace {

void demand(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.scalar_type() == at::kFloat && tensor.is_contiguous(),
              "[stable_abi] the operators of this library take contiguous float32 tensors");
}

template <double (*function)(double)>
at::Tensor& compute_out(const at::Tensor& self, at::Tensor& out) {
  demand(self);
  demand(out);
  TORCH_CHECK(self.numel() == out.numel(), "[stable_abi] out= has another size than the input");
  dl_stable_abi::compute<function>(self.const_data_ptr(), out.mutable_data_ptr(), self.numel());
  return out;
}

template <double (*function)(double)>
at::Tensor compute_new(const at::Tensor& self) {
  at::Tensor out = at::empty_strided(self.sizes(), self.strides(), self.options());
  return compute_out<function>(self, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
#define DL_REGISTER(name)                               \
  library.impl(#name, TORCH_FN((compute_new<::name>))); \
  library.impl(#name ".out", TORCH_FN((compute_out<::name>)));
  DL_UNARY_FAMILY(DL_REGISTER)
}
