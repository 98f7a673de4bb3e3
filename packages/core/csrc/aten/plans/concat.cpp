#include "aten/plans/concat.h"

#include <ATen/TensorUtils.h>

#include "aten/layout/strides.h"
#include "aten/plans/checks.h"

namespace dl::core::plans {
namespace {

// torch skips legacy empty tensors of shape (0) in a concatenation.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

// The memory format that all tensors share, considering a new dimension `at` if there is one;
// contiguous if they differ.
c10::MemoryFormat common_format(at::TensorList tensors, std::optional<int64_t> at) {
  std::optional<c10::MemoryFormat> common;
  for (const Tensor& tensor : tensors) {
    if (has_standard_strides(tensor.unsafeGetTensorImpl())) return c10::MemoryFormat::Contiguous;
    const c10::MemoryFormat format = (at ? tensor.unsqueeze(*at) : tensor).suggest_memory_format();
    if (common.value_or(format) != format) return c10::MemoryFormat::Contiguous;
    common = format;
  }
  return *common;
}

// torch concatenates and then splits the dimension, unless the new dimension is the last.
void stack_output(OutputPlan& plan, at::TensorList tensors, int64_t at, const DimVector& sizes,
                  c10::ScalarType type) {
  const bool behind = at == tensors[0].dim();
  const c10::MemoryFormat format =
      common_format(tensors, behind ? std::optional<int64_t>(at) : std::nullopt);
  if (behind || format == c10::MemoryFormat::Contiguous) return plan.output(sizes, type, format);
  DimVector joined(tensors[0].sizes().begin(), tensors[0].sizes().end());
  joined[at] *= static_cast<int64_t>(tensors.size());
  const auto strides =
      at::detail::computeStride(joined, at::DimVector(strides_of(joined, format)), sizes);
  if (!strides) return plan.output(sizes, type);
  plan.keep_strides(*strides);
  plan.strided_output(sizes, type);
}

}  // namespace

bool concatenation(OutputPlan& plan, AxisValues& values, const at::ITensorListRef& tensors,
                   int64_t dim) {
  const Tensor* leading = nullptr;
  const Tensor* first = nullptr;  // the first tensor that is not skipped
  DimVector sizes{0};
  int64_t at = 0;
  c10::MemoryFormat format = c10::MemoryFormat::Contiguous;
  c10::ScalarType type = c10::ScalarType::Undefined;
  for (const Tensor& tensor : tensors) {
    if (leading == nullptr) {
      leading = &tensor;
      type = tensor.scalar_type();
    }
    if (!alike(tensor) || !on_same_device(*leading, tensor)) return false;
    // 0-dim tensors take part in type promotion with lower priority.
    if (tensor.dim() == 0) return false;
    if (tensor.scalar_type() != type) type = c10::promoteTypes(type, tensor.scalar_type());
    if (is_skipped(tensor)) continue;
    if (first == nullptr) {
      first = &tensor;
      if (!valid_dim(tensor, dim)) return false;
      at = wrap_dim(tensor, dim);
      sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
      format = tensor.suggest_memory_format();
      continue;
    }
    if (tensor.dim() != first->dim()) return false;
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (i != at && tensor.size(i) != first->size(i)) return false;
    }
    sizes[at] += tensor.size(at);
    if (tensor.suggest_memory_format() != format) format = c10::MemoryFormat::Contiguous;
  }
  if (leading == nullptr) return false;
  plan.start(*leading);
  values.dim = at;
  plan.output(sizes, type, format);
  return true;
}

bool stack(OutputPlan& plan, AxisValues& values, at::TensorList tensors, int64_t dim) {
  if (tensors.empty() || !alike(tensors[0]) || !is_dim_of(dim, tensors[0].dim() + 1)) return false;
  c10::ScalarType type = tensors[0].scalar_type();
  for (const Tensor& tensor : tensors) {
    if (!on_same_device(tensors[0], tensor) || tensor.sizes() != tensors[0].sizes()) return false;
    if (to_diopi(tensor.scalar_type()) == diopi_dtype_unsupported) return false;
    type = c10::promoteTypes(type, tensor.scalar_type());
  }
  const int64_t at = dim < 0 ? dim + tensors[0].dim() + 1 : dim;
  DimVector sizes(tensors[0].sizes().begin(), tensors[0].sizes().end());
  sizes.insert(sizes.begin() + at, static_cast<int64_t>(tensors.size()));
  plan.start(tensors[0]);
  values.dim = at;
  stack_output(plan, tensors, at, sizes, type);
  return true;
}

}  // namespace dl::core::plans
