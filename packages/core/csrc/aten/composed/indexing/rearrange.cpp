// flip, which preserves the strides of its input.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include "aten/kernel/kernel.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

Site flip_site{"flip", {"flip"}, {Op::diopiFlip}};

bool flip_natively(const Tensor& self, at::IntArrayRef dims, Tensor& result) {
  if (self.device().type() != kDeviceType || flip_site.disabled.load(std::memory_order_relaxed))
    return false;
  if (to_diopi(self.scalar_type()) == diopi_dtype_unsupported) return false;
  DimVector wrapped;
  for (const int64_t dim : dims) {
    const int64_t count = self.dim() == 0 ? 1 : self.dim();
    if (dim < -count || dim >= count) return false;
    wrapped.push_back(dim < 0 ? dim + count : dim);
    for (size_t i = 0; i + 1 < wrapped.size(); ++i) {
      if (wrapped[i] == wrapped.back()) return false;
    }
  }
  const int device = self.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiFlip);
  if (function == nullptr) return false;
  // As in torch, the result has the strides of a dense input.
  result = at::empty_like(self);
  NativeCall call(flip_site, device);
  OutputHandle out(result);
  return call.run("diopiFlip", function, out.get(), TensorHandle(self).get(), to_size(wrapped));
}

Tensor flip(const Tensor& self, at::IntArrayRef dims) {
  Tensor result;
  if (flip_natively(self, dims, result)) return result;
  return on_cpu<"flip", Tensor(const Tensor&, at::IntArrayRef)>(self, dims);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_KERNEL("flip", flip); }

}  // namespace dl::core::composed
