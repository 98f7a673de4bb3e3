#include "aten/direct_plan.h"

#include "aten/empty.h"
#include "aten/resize_output.h"

namespace dl::core {

bool DirectPlan::make_outputs(GivenOutputs given) {
  if (given.size() == 0) {
    for (const Spec& spec : specs_) {
      made_.push_back(spec.wanted ? empty_on(device_, spec.sizes, spec.type, spec.format)
                                  : at::Tensor());
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
    const Spec& spec = specs_[i++];
    // As torch: an output that had to be resized takes the format, one that fits keeps its own.
    if (at::native::resize_output(*tensor, spec.sizes) &&
        spec.format != c10::MemoryFormat::Contiguous) {
      tensor->unsafeGetTensorImpl()->empty_tensor_restride(spec.format);
    }
    made_.push_back(*tensor);
  }
  return true;
}

}  // namespace dl::core
