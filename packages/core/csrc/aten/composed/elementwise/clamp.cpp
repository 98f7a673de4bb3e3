// clamp to bounds that are tensors.
#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

bool is_number(const Tensor& tensor) {
  return !tensor.is_complex() && tensor.scalar_type() != at::kBool;
}
// What is neither complex nor all bools can be clamped.
bool takes(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  bool number = is_number(self);
  for (const auto& bound : {min, max}) {
    if (!bound || !bound->defined()) continue;
    if (bound->is_complex()) return false;
    number |= is_number(*bound);
  }
  return number && !self.is_complex();
}

Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
             const std::optional<Tensor>& max) {
  if (!takes(self, min, max)) return on_cpu<"clamp.Tensor", decltype(clamp)>(self, min, max);
  const bool low = min && min->defined(), high = max && max->defined();
  TORCH_CHECK(low || high, "torch.clamp: At least one of 'min' or 'max' must not be None");
  const Tensor raised = low ? self.maximum(*min) : self;
  return high ? raised.minimum(*max) : raised;
}
Tensor& clamp_out(const Tensor& self, const std::optional<Tensor>& min,
                  const std::optional<Tensor>& max, Tensor& out) {
  if (!takes(self, min, max))
    return on_cpu<"clamp.Tensor_out", decltype(clamp_out)>(self, min, max, out);
  return write_to(out, clamp(self, min, max));
}
Tensor& clamp_inplace(Tensor& self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max) {
  if (!takes(self, min, max))
    return on_cpu<"clamp_.Tensor", decltype(clamp_inplace)>(self, min, max);
  return write_to(self, clamp(self, min, max));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("clamp.Tensor", clamp);
  DL_COMPOSED("clamp.Tensor_out", clamp_out);
  DL_COMPOSED("clamp_.Tensor", clamp_inplace);
}

}  // namespace dl::core::composed
