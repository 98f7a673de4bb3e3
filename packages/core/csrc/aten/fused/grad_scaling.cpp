// Gradient unscaling with the check for non-finite values.
#include "aten/fallback/overlap.h"
#include "aten/fused/output_handles.h"
#include "aten/fused/step.h"

namespace dl::core {
namespace {

using at::TensorList;

Site unscale_site{"_amp_foreach_non_finite_check_and_unscale_",
                  {"_amp_foreach_non_finite_check_and_unscale_"},
                  {Op::diopiAmpForeachNonFiniteCheckAndUnscaleInp}};

bool is_number(const at::Tensor& tensor, const at::Tensor& beside) {
  return tensor.numel() == 1 && tensor.scalar_type() == at::kFloat &&
         tensor.device() == beside.device();
}

bool run_native(TensorList grads, at::Tensor& found_inf, const at::Tensor& inv_scale) {
  const int index = device_of_list(grads);
  if (index < 0 || unscale_site.disabled.load(std::memory_order_relaxed)) return false;
  const auto function =
      DL_CONTRACT_FUNCTION(device_unchecked(index), diopiAmpForeachNonFiniteCheckAndUnscaleInp);
  if (function == nullptr || !lists_match(grads, {grads}) || !is_number(found_inf, grads[0]) ||
      !is_number(inv_scale, grads[0]) || overlap::meets(found_inf, grads) ||
      overlap::meets(inv_scale, grads)) {
    return false;
  }
  OutputHandleList handles(grads);
  OutputHandle found_handle(found_inf);
  NativeCall call(unscale_site, index);
  return call.run("diopiAmpForeachNonFiniteCheckAndUnscaleInp", function, handles.data(),
                  static_cast<int64_t>(grads.size()), found_handle.get(),
                  TensorHandle(inv_scale).get());
}

void non_finite_check_and_unscale(TensorList grads, at::Tensor& found_inf,
                                  const at::Tensor& inv_scale) {
  if (run_native(grads, found_inf, inv_scale)) return;
  on_cpu<"_amp_foreach_non_finite_check_and_unscale_",
         void(TensorList, at::Tensor&, const at::Tensor&)>(grads, found_inf, inv_scale);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_amp_foreach_non_finite_check_and_unscale_",
               TORCH_FN(non_finite_check_and_unscale));
}

}  // namespace dl::core
