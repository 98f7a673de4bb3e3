// Contribution of one indexed dimension to the offsets of indexed positions.
#ifndef DL_KERNELS_INDEX_ADD_OFFSET_H_
#define DL_KERNELS_INDEX_ADD_OFFSET_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace detail {

// Add index · stride of a dimension to the offset of position `i`.
struct AddOffset {
  int64_t* sum;
  const int64_t* index;
  int64_t extent, stride;

  DL_FN void operator()(int64_t i) const { from(i, i); }
  DL_FN void from(int64_t i, int64_t offset) const {
    const int64_t at = index[offset];
    sum[i] += (at < 0 ? at + extent : at) * stride;
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_ADD_OFFSET_H_
