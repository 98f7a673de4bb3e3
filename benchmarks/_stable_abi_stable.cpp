// A family of unary operators by torch's stable ABI. The library is compiled for one torch release
// and runs with later releases too: it includes headers of torch/csrc/stable and torch/headeronly
// only.
//
// DL_OUTPUT_BY_OPERATOR allocates outputs by a call of the operator empty_like, as
// torch::stable::empty_like does, instead of by a function of torch's C interface.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "_stable_abi_kernel.h"

namespace {

using torch::stable::Tensor;

void demand(const Tensor& tensor) {
  STD_TORCH_CHECK(
      tensor.scalar_type() == torch::headeronly::ScalarType::Float && tensor.is_contiguous(),
      "[stable_abi] the operators of this library take contiguous float32 tensors");
}

Tensor allocate_like(const Tensor& self) {
#ifdef DL_OUTPUT_BY_OPERATOR
  return torch::stable::empty_like(self);
#else
  int32_t dtype = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(self.get(), &dtype));
  AtenTensorHandle handle = nullptr;
  const auto sizes = self.sizes();
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(
      self.dim(), sizes.data(), self.strides().data(), dtype, aoti_torch_device_type_privateuse1(),
      self.get_device_index(), &handle));
  return Tensor(handle);
#endif
}

template <double (*function)(double)>
Tensor compute_out(const Tensor& self, Tensor out) {
  demand(self);
  demand(out);
  STD_TORCH_CHECK(self.numel() == out.numel(), "[stable_abi] out= has another size than the input");
  dl_stable_abi::compute<function>(self.const_data_ptr(), out.mutable_data_ptr(), self.numel());
  return out;
}

template <double (*function)(double)>
Tensor compute_new(const Tensor& self) {
  return compute_out<function>(self, allocate_like(self));
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
#define DL_REGISTER(name)                               \
  library.impl(#name, TORCH_BOX(&compute_new<::name>)); \
  library.impl(#name ".out", TORCH_BOX(&compute_out<::name>));
  DL_UNARY_FAMILY(DL_REGISTER)
}
