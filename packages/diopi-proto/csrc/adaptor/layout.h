// Strides of the layouts that a rule can ask for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dl/format.h"

namespace dl::adaptor {

// Whether tensors of so many dimensions have a channels-last form: without, with one, two and three
// dimensions of space.
inline bool has_channels(int64_t ndim) { return ndim >= 3 && ndim <= 5; }

inline bool lies_as(const dl_tensor_prefix_t& tensor, int32_t layout) {
  if (layout == DL_FORMAT_CHANNELS_LAST)
    return !has_channels(tensor.ndim) || dl_tensor_channels_innermost(&tensor) != 0;
  return layout == DL_FORMAT_STRIDED || (tensor.flags & DL_TENSOR_CONTIGUOUS) != 0;
}

// Strides without gaps, in elements; of a layout that the tensor can have.
inline std::vector<int64_t> dense_strides(const dl_tensor_prefix_t& tensor, bool channels_last) {
  std::vector<int64_t> strides(static_cast<size_t>(tensor.ndim));
  int64_t step = 1;
  for (int64_t place = 0; place < tensor.ndim; ++place) {
    int64_t dim = tensor.ndim - 1 - place;
    if (channels_last && place == 0) {
      dim = 1;
    } else if (channels_last && place < tensor.ndim - 1) {
      dim = tensor.ndim - place;
    }
    strides[static_cast<size_t>(dim)] = step;
    step *= std::max<int64_t>(tensor.sizes[dim], 1);
  }
  return strides;
}

// What counts say of the order of the elements.
inline int32_t format_of(const dl_tensor_prefix_t& tensor) {
  const dl_format_t format = dl_tensor_format(&tensor);
  if (format == DL_FORMAT_STRIDED && tensor.ndim == 3 && dl_tensor_channels_innermost(&tensor))
    return DL_FORMAT_CHANNELS_LAST;
  return format == DL_FORMAT_CHANNELS_LAST_3D ? DL_FORMAT_CHANNELS_LAST : format;
}

}  // namespace dl::adaptor
