#include "aten/output_plan.h"

#include "aten/empty.h"
#include "aten/resize_output.h"

namespace dl::core {

bool OutputPlan::make_outputs(GivenOutputs given) {
  if (given.size() == 0) {
    for (const Spec& spec : specs_) {
      made_.push_back(!spec.wanted   ? at::Tensor()
                      : spec.strided ? empty_strided_on(device_, spec.sizes, strides_, spec.type)
                                     : empty_on(device_, spec.sizes, spec.type, spec.format));
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
    if (at::native::resize_output(*tensor, spec.sizes)) {
      auto* impl = tensor->unsafeGetTensorImpl();
      if (spec.strided) {
        impl->set_sizes_and_strides(spec.sizes, strides_);
      } else if (spec.format != c10::MemoryFormat::Contiguous) {
        impl->empty_tensor_restride(spec.format);
      }
    }
    made_.push_back(*tensor);
  }
  return true;
}

}  // namespace dl::core
