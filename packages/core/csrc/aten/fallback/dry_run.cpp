#include "aten/fallback/dry_run.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/Exception.h>

#include "aten/fallback/boxed_arguments.h"
#include "aten/fallback/fallback_random.h"
#include "runtime/device.h"

namespace dl::core {
namespace {

class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

}  // namespace

std::exception_ptr dry_run(const c10::OperatorHandle& op, torch::jit::Stack arguments, Twins twins,
                           bool whole_storages) {
  const OperatorInfo& info = operator_info(op);
  const size_t count = arguments.size();
  int device = current_device();
  visit_tensors(arguments, 0, count, [&](const at::Tensor& tensor, size_t) {
    if (holds_dl(tensor)) device = tensor.get_device();
  });
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  HostArguments host(device, twins, info.whole_storage || whole_storages);
  visit_tensors(arguments, 0, count, [&](const at::Tensor& tensor, size_t) {
    if (holds_dl(tensor)) host.survey(tensor);
  });
  host.begin();
  replace_arguments(host, info, arguments, 0, count);
  NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard silent(&no_warnings);
  const UnusedRandom random(info, arguments, 0);
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &arguments);
  } catch (const c10::Error&) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace dl::core
