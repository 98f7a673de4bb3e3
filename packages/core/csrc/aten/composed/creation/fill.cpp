// fill_ with the one element of a tensor.
#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

Tensor& fill_from(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("fill_.Tensor", fill_from); }

}  // namespace dl::core::composed
