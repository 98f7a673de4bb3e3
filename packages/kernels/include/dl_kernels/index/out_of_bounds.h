// Bounds check of the indices along one dimension, which may be negative to count from its end.
#ifndef DL_KERNELS_INDEX_OUT_OF_BOUNDS_H_
#define DL_KERNELS_INDEX_OUT_OF_BOUNDS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"

DL_KERNELS_BEGIN

// Range of indices: `low` is the lowest one, or 0 if none is negative; `high` is the highest one,
// or negative if all are.
struct IndexRange {
  int64_t low, high;
};

namespace detail {

struct OutOfBounds {
  const IndexRange* range;
  int64_t dim, extent;

  DL_FN bool operator()(int64_t) const { return range->low < -extent || range->high >= extent; }
  DL_FN void describe(int64_t, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "index {value} is out of bounds for dimension {position} with size {high}");
    error.value = range->high >= extent ? range->high : range->low;
    error.position = dim;
    error.low = -extent;
    error.high = extent;
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_OUT_OF_BOUNDS_H_
