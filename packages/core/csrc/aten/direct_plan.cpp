#include "aten/direct_plan.h"

#include <ATen/native/Resize.h>

#include "aten/empty.h"

namespace dl::core {

bool DirectPlan::make_outputs(GivenOutputs given) {
  if (given.size() == 0) {
    for (const Spec& spec : specs_) {
      made_.push_back(spec.wanted ? empty_on(device_, spec.sizes, spec.type) : at::Tensor());
    }
    return true;
  }
  size_t i = 0;
  for (const at::Tensor* tensor : given) {
    const Spec& spec = specs_[i++];
    const bool on_device =
        tensor->device().type() == kDeviceType && tensor->get_device() == device_;
    if (!spec.wanted || !on_device || tensor->scalar_type() != spec.type) return false;
  }
  i = 0;
  for (const at::Tensor* tensor : given) {
    at::native::resize_output(*tensor, specs_[i++].sizes);
    made_.push_back(*tensor);
  }
  return true;
}

}  // namespace dl::core
