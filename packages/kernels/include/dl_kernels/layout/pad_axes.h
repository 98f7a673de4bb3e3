// Geometry of padding: the position that each padded position repeats.
#ifndef DL_KERNELS_LAYOUT_PAD_AXES_H_
#define DL_KERNELS_LAYOUT_PAD_AXES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

enum class PadMode { constant, reflect, replicate, circular };

// Return the position in an axis of `n` elements that the padded position `at` repeats, or -1.
DL_FN int64_t padded_source(PadMode mode, int64_t at, int64_t n) {
  if (at >= 0 && at < n) return at;
  switch (mode) {
    case PadMode::reflect:
      return at < 0 ? -at : 2 * (n - 1) - at;
    case PadMode::replicate:
      return at < 0 ? 0 : n - 1;
    case PadMode::circular:
      return at < 0 ? at + n : at - n;
    default:
      return -1;
  }
}

struct PadAxis {
  int64_t before, output, input, out_stride, in_stride;
};

struct PadAxes {
  PadAxis axis[kMaxDims];
  int64_t ndim;
  PadMode mode;
};

DL_KERNELS_END

#endif  // DL_KERNELS_LAYOUT_PAD_AXES_H_
