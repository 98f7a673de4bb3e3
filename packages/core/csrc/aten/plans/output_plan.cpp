#include "aten/plans/output_plan.h"

#include <algorithm>

#include "aten/layout/resize_output.h"
#include "aten/layout/strides.h"
#include "memory/new_tensor.h"

namespace dl::core {
namespace {

DimVector strides_by_columns(c10::IntArrayRef sizes) {
  const size_t rank = sizes.size();
  DimVector strides(rank);
  strides[rank - 2] = 1;
  int64_t step = strides[rank - 1] = std::max<int64_t>(sizes[rank - 2], 1);
  step *= std::max<int64_t>(sizes[rank - 1], 1);
  for (size_t d = rank - 2; d-- > 0;) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace

at::Tensor OutputPlan::allocate(const Spec& spec) const {
  if (!spec.wanted) return {};
  if (spec.by_columns)
    return empty_strided_on(device_, spec.sizes, strides_by_columns(spec.sizes), spec.type);
  if (spec.strided) return empty_strided_on(device_, spec.sizes, strides_, spec.type);
  return empty_on(device_, spec.sizes, spec.type, spec.format);
}

bool OutputPlan::make_outputs(GivenOutputs given) {
  size_t i = 0;
  for (const at::Tensor* tensor : given) {
    const Spec& spec = specs_[i++];
    const bool on_device =
        tensor->device().type() == kDeviceType && tensor->get_device() == device_;
    if (!spec.wanted || !on_device || tensor->scalar_type() != spec.type) return false;
    if (C10_UNLIKELY(tensor->is_conj() || tensor->is_neg())) return false;
  }
  i = 0;
  for (const at::Tensor* tensor : given) {
    const Spec& spec = specs_[i++];
    // As in torch, a resized output gets the memory format, and an output that fits keeps its own.
    if (at::native::resize_output(*tensor, spec.sizes)) {
      auto* impl = tensor->unsafeGetTensorImpl();
      if (spec.by_columns) {
        impl->set_sizes_and_strides(spec.sizes, strides_by_columns(spec.sizes));
      } else if (spec.strided) {
        impl->set_sizes_and_strides(spec.sizes, strides_);
      } else if (spec.format != c10::MemoryFormat::Contiguous) {
        impl->empty_tensor_restride(spec.format);
      }
    }
    made_.push_back(*tensor);
  }
  for (; i < specs_.size(); ++i) made_.push_back(allocate(specs_[i]));
  return true;
}

void OutputPlan::set_output(at::Tensor made) {
  made_.push_back(taken_by_columns_ ? arrange_by_columns(made) : std::move(made));
}

}  // namespace dl::core
