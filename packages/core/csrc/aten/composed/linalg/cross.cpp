// Cross product of vectors of three elements.
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_cross_compositeexplicitautogradnonfunctional_dispatch.h>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

Tensor& cross_out(const Tensor& self, const Tensor& other, int64_t dim, Tensor& out) {
  const bool takes = is_on_dl(self) && is_target_for(other, self) && is_target_for(out, self) &&
                     self.scalar_type() != at::kBool && self.dim() == other.dim() &&
                     dim >= -self.dim() && dim < self.dim() && self.size(dim) == 3 &&
                     other.size(dim) == 3 && at::are_expandable(self.sizes(), other.sizes());
  if (!takes) return on_cpu<"linalg_cross.out", decltype(cross_out)>(self, other, dim, out);
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  // Vectors with the elements rotated: 1, 2, 0 or 2, 0, 1.
  const auto turned = [along](const Tensor& tensor, int64_t by) {
    return at::cat({tensor.narrow(along, by, 3 - by), tensor.narrow(along, 0, by)}, along);
  };
  const Tensor first = turned(self, 1).mul(turned(other, 2));
  return write_to(out, first.sub(turned(self, 2).mul(turned(other, 1))));
}

// The allocating form is registered for the dl device only.
Tensor cross(const Tensor& self, const Tensor& other, int64_t dim) {
  if (self.device() != other.device())
    return on_cpu<"linalg_cross", decltype(cross)>(self, other, dim);
  return at::compositeexplicitautogradnonfunctional::linalg_cross(self, other, dim);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("linalg_cross", cross);
  DL_COMPOSED("linalg_cross.out", cross_out);
}

}  // namespace dl::core::composed
