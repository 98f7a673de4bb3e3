// Check of the positions of maxima.
#ifndef DL_KERNELS_IMAGE_OUTSIDE_PLANE_H_
#define DL_KERNELS_IMAGE_OUTSIDE_PLANE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"

DL_KERNELS_BEGIN

namespace detail {

// A check with a single item.
struct OutsidePlane {
  const uint64_t* largest;  // maximum of all positions as unsigned, so that negative ones are large
  int64_t cells;

  DL_FN bool operator()(int64_t) const { return *largest >= static_cast<uint64_t>(cells); }
  DL_FN void describe(int64_t, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "index {value} is out of range for planes of {high} elements");
    error.value = static_cast<int64_t>(*largest);
    error.high = cells;
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_OUTSIDE_PLANE_H_
