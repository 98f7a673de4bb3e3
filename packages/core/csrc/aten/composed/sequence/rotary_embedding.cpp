// Rotary position embedding in place, as the operator torch.ops.dl.rotary_embedding_: torch has no
// operator of this kind. Source: Su et al., RoFormer (2021).
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "aten/layout/aliases.h"
#include "aten/plans/checks.h"
#include "calls/call.h"

namespace dl::core::composed {
namespace {

Site rotary_embedding_site{"dl::rotary_embedding_", {}, {}};

// Rotates pairs of elements along the last dimension of `self`: adjacent ones if `interleaved`,
// otherwise an element and the one half a row after it. `cos` and `sin` broadcast over `self` with
// half its last dimension.
Tensor& rotary_embedding_(Tensor& self, const Tensor& cos, const Tensor& sin, bool interleaved) {
  TORCH_CHECK(self.dim() > 0 && self.size(-1) % 2 == 0,
              "[rotary_embedding_] the tensor has the shape ", self.sizes(),
              "; its last dimension must be even");
  TORCH_CHECK(plans::alike(self, cos, sin) && plans::floating(self),
              "[rotary_embedding_] the tensor, cos and sin have the dtypes ", self.scalar_type(),
              ", ", cos.scalar_type(), " and ", sin.scalar_type(),
              "; they must be one floating-point dtype on one device");
  if (self.numel() == 0) return self;
  const int index = self.get_device();
  const auto operation = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiRotaryEmbedding);
  NativeCall call(rotary_embedding_site, index);
  const bool ran = operation != nullptr &&
                   !rotary_embedding_site.disabled.load(std::memory_order_relaxed) &&
                   call.run("diopiRotaryEmbedding", operation, OutputHandle(self).get(),
                            TensorHandle(self).get(), TensorHandle(cos).get(),
                            TensorHandle(sin).get(), false, interleaved);
  TORCH_CHECK_NOT_IMPLEMENTED(ran, "[rotary_embedding_] ", device_unchecked(index).vendor->name(),
                              " does not have diopiRotaryEmbedding for this call; rotate the pairs "
                              "with multiplications");
  return self;
}

bool has_rotary_embedding(int64_t index) {
  return DL_CONTRACT_FUNCTION(device(static_cast<int>(index)), diopiRotaryEmbedding) != nullptr &&
         !rotary_embedding_site.disabled.load(std::memory_order_relaxed);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(dl, library) {
  library.def(
      "rotary_embedding_(Tensor(a!) self, Tensor cos, Tensor sin, bool interleaved) -> Tensor(a!)");
  library.def("has_rotary_embedding(int device) -> bool", &has_rotary_embedding);
}

TORCH_LIBRARY_IMPL(dl, PrivateUse1, library) {
  library.impl("rotary_embedding_", TORCH_FN(rotary_embedding_));
}

}  // namespace dl::core::composed
