#include "aten/layout/strides.h"

#include <ATen/TensorIterator.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/strides.h>

#include <vector>

namespace dl::core {
namespace {

bool is_mask(const at::Tensor& index) {
  return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
}

}  // namespace

at::DimVector strides_of(c10::IntArrayRef sizes, c10::MemoryFormat format) {
  switch (format) {
    case c10::MemoryFormat::ChannelsLast:
      return at::DimVector(c10::get_channels_last_strides_2d(sizes));
    case c10::MemoryFormat::ChannelsLast3d:
      return at::DimVector(c10::get_channels_last_strides_3d(sizes));
    default:
      return at::DimVector(c10::contiguous_strides(sizes));
  }
}

at::Tensor arrange(const at::Tensor& tensor, c10::MemoryFormat format) {
  const at::DimVector wanted = strides_of(tensor.sizes(), format);
  if (tensor.strides() == at::IntArrayRef(wanted)) return tensor;
  if (tensor.is_contiguous(format)) return tensor.as_strided(tensor.sizes(), wanted);
  return tensor.contiguous(format);
}

at::Tensor arrange_by_columns(const at::Tensor& matrix) {
  const int64_t strides[2] = {1, matrix.size(0)};
  if (matrix.strides() == at::IntArrayRef(strides)) return matrix;
  return matrix.t().contiguous().t().as_strided(matrix.sizes(), strides);
}

at::Tensor arrange_as_indexed(const at::Tensor& result, const at::Tensor& self,
                              at::TensorList indices) {
  if (has_standard_strides(self.unsafeGetTensorImpl()) || result.numel() == 0) return result;
  // Strides of the remaining dimensions in the result, and the position of the dimensions that
  // replace the indexed ones: where the indexed ones are if these are adjacent, otherwise in front.
  std::vector<int64_t> strides;
  size_t place = 0;
  int64_t groups = 0, dim = 0;
  bool inside = false;
  for (const at::Tensor& index : indices) {
    if (!index.defined()) {
      strides.push_back(self.stride(dim++));
    } else {
      if (!inside) {
        place = strides.size();
        ++groups;
      }
      dim += is_mask(index) ? index.dim() : 1;
    }
    inside = index.defined();
  }
  while (dim < self.dim()) strides.push_back(self.stride(dim++));
  if (groups > 1) place = 0;
  const size_t behind = strides.size() - place;
  strides.insert(strides.begin() + static_cast<int64_t>(place),
                 static_cast<size_t>(result.dim()) - strides.size(), 0);
  // torch's own rule then determines the order, from these strides and the indices' strides.
  at::Tensor out;
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).set_check_mem_overlap(false).add_output(out);
  config.add_owned_const_input(self.as_strided(result.sizes(), strides));
  for (at::Tensor index : indices) {
    if (!index.defined() || is_mask(index)) continue;
    for (size_t d = 0; d < behind; ++d) index = index.unsqueeze(-1);
    config.add_owned_const_input(index);
  }
  config.declare_static_dtype_and_device(self.scalar_type(), self.device());
  out = config.build().output();
  return out.strides() == result.strides() ? result : out.copy_(result);
}

}  // namespace dl::core
