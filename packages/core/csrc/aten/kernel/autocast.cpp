// Autocast: torch registers nothing for out-of-tree devices, so the operator lists that CUDA, XPU
// and MTIA share are registered here. The CPU has its own lists.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "aten/kernel/layer_fallback.h"

namespace at {

namespace {

Tensor refuse_binary_cross_entropy(const Tensor&, const Tensor&, const std::optional<at::Tensor>&,
                                   int64_t) {
  TORCH_CHECK(false,
              "[binary_cross_entropy] torch.nn.functional.binary_cross_entropy and "
              "torch.nn.BCELoss are unsafe to autocast: probabilities near 0 and 1 overflow in low "
              "precision. Use binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss, or "
              "leave autocast around the loss");
}

const bool others_fall_through =
    dl::core::add_layer_fallback<c10::DispatchKey::AutocastPrivateUse1,
                                 &torch::CppFunction::makeFallthrough>();

}  // namespace

// The macros below use a variable named `m`.
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define DL_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define DL_FLOAT32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define DL_FLOAT32_OUTPUT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define DL_APPEND_FLOAT32(...) KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(__VA_ARGS__)
#define DL_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(DL_LOWER_PRECISION)
  AT_FORALL_FP32(DL_FLOAT32)
  AT_FORALL_FP32_SET_OPT_DTYPE(DL_FLOAT32_OUTPUT)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(DL_APPEND_FLOAT32)
  AT_FORALL_PROMOTE(DL_PROMOTE)
  m.impl("binary_cross_entropy", refuse_binary_cross_entropy);
}

}  // namespace at
