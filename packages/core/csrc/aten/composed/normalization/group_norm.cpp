// Group normalization that preserves channels-last. torch's own group_norm, which calls
// native_group_norm, does so only on the CPU; on other devices it makes the input contiguous.
#include <ATen/core/Tensor.h>
#include <ATen/ops/group_norm_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/native_group_norm.h>
#include <torch/library.h>

#include <tuple>

#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

bool is_absent_or_of(const OptionalTensor& parameter, int64_t channels) {
  return !parameter || !parameter->defined() ||
         (parameter->dim() == 1 && parameter->size(0) == channels);
}

at::Tensor group_norm(const at::Tensor& input, int64_t groups, const OptionalTensor& weight,
                      const OptionalTensor& bias, double eps, bool cudnn_enabled) {
  const c10::MemoryFormat format = input.suggest_memory_format();
  // torch's implementation raises the error for invalid arguments.
  if (format == c10::MemoryFormat::Contiguous || groups < 1 || input.size(1) % groups != 0 ||
      !is_absent_or_of(weight, input.size(1)) || !is_absent_or_of(bias, input.size(1)) ||
      input.numel() == 0) {
    return at::compositeimplicitautograd::group_norm(input, groups, weight, bias, eps,
                                                     cudnn_enabled);
  }
  const int64_t samples = input.size(0), channels = input.size(1);
  return std::get<0>(at::native_group_norm(input.contiguous(format), weight, bias, samples,
                                           channels, input.numel() / (samples * channels), groups,
                                           eps));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { library.impl("group_norm", TORCH_FN(group_norm)); }

// Autograd records the operators that this function calls.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  library.impl("group_norm", TORCH_FN(group_norm));
}

}  // namespace dl::core::composed
