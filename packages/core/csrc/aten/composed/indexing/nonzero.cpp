// nonzero and masked_select, out= forms, and nonzero_static, whose size the caller gives.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/nonzero.h>

#include <algorithm>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  check_out(out, self, self.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  return write_to(out, at::masked_select(self, mask), OutputDtype::same);
}

Tensor& nonzero_out(const Tensor& self, Tensor& out) {
  check_out(out, self, at::kLong);
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const Tensor found = at::nonzero(self);
  if (at::native::resize_output(out, found.sizes()))
    out.unsafeGetTensorImpl()->set_sizes_and_strides(found.sizes(), found.strides());
  return out.copy_(found);
}

Tensor static_nonzero(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  const Tensor found = at::nonzero(self);
  Tensor result = at::full({size, self.dim()}, fill_value, self.options().dtype(at::kLong));
  const int64_t count = std::min(size, found.size(0));
  result.narrow(0, 0, count).copy_(found.narrow(0, 0, count));
  return result;
}

Tensor& nonzero_static_out(const Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  check_out(out, self, at::kLong);
  return write_to(out, static_nonzero(self, size, fill_value), OutputDtype::same);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("masked_select.out", masked_select_out);
  DL_COMPOSED("nonzero.out", nonzero_out);
  DL_COMPOSED("nonzero_static", static_nonzero);
  DL_COMPOSED("nonzero_static.out", nonzero_static_out);
}

}  // namespace dl::core::composed
