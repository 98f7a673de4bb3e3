// Memory formats that a rule can require, and their strides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dl/format.h"

namespace dl::adaptor {

// Returns true if tensors with `ndim` dimensions have a channels-last format: one, two or three
// spatial dimensions (NLC, NHWC, NDHWC).
inline bool has_channels(int64_t ndim) { return ndim >= 3 && ndim <= 5; }

inline bool has_layout(const dl_tensor_prefix_t& tensor, int32_t layout) {
  if (layout == DL_FORMAT_CHANNELS_LAST)
    return !has_channels(tensor.ndim) || dl_tensor_channels_innermost(&tensor) != 0;
  return layout == DL_FORMAT_STRIDED || (tensor.flags & DL_TENSOR_CONTIGUOUS) != 0;
}

// Returns dense strides in elements; channels-last only if has_channels(tensor.ndim).
inline std::vector<int64_t> dense_strides(const dl_tensor_prefix_t& tensor, bool channels_last) {
  std::vector<int64_t> strides(static_cast<size_t>(tensor.ndim));
  int64_t step = 1;
  for (int64_t rank = 0; rank < tensor.ndim; ++rank) {  // from the innermost dimension outwards
    int64_t dim = tensor.ndim - 1 - rank;
    if (channels_last && rank == 0) {
      dim = 1;
    } else if (channels_last && rank < tensor.ndim - 1) {
      dim = tensor.ndim - rank;
    }
    strides[static_cast<size_t>(dim)] = step;
    step *= std::max<int64_t>(tensor.sizes[dim], 1);
  }
  return strides;
}

// Returns the memory format as it appears in the counters: channels-last for 3 to 5 dimensions.
inline int32_t format_of(const dl_tensor_prefix_t& tensor) {
  const dl_format_t format = dl_tensor_format(&tensor);
  if (format == DL_FORMAT_STRIDED && tensor.ndim == 3 && dl_tensor_channels_innermost(&tensor))
    return DL_FORMAT_CHANNELS_LAST;
  return format == DL_FORMAT_CHANNELS_LAST_3D ? DL_FORMAT_CHANNELS_LAST : format;
}

}  // namespace dl::adaptor
