// dot and vdot.
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "aten/composed.h"
#include "aten/composed/composed_tools.h"

namespace dl::core {
namespace {

bool multiplies(const at::Tensor& self, const at::Tensor& other) {
  return is_real(self) && self.scalar_type() != at::kBool && self.dim() == 1 && other.dim() == 1 &&
         self.scalar_type() == other.scalar_type() && self.device() == other.device() &&
         self.size(0) == other.size(0);
}

at::Tensor product_of(const at::Tensor& self, const at::Tensor& other) {
  if (self.numel() == 0) return at::zeros({}, self.options());
  return at::mm(self.unsqueeze(0), other.unsqueeze(1)).view(at::IntArrayRef());
}

at::Tensor dot(const at::Tensor& self, const at::Tensor& other) {
  if (!multiplies(self, other)) return on_cpu<decltype(dot)>("aten::dot", "", self, other);
  return product_of(self, other);
}

at::Tensor vdot(const at::Tensor& self, const at::Tensor& other) {
  if (!multiplies(self, other)) return on_cpu<decltype(vdot)>("aten::vdot", "", self, other);
  return product_of(self, other);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("dot", dot);
  DL_COMPOSED("vdot", vdot);
}

}  // namespace dl::core
