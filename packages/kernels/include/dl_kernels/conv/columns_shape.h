// Geometry of im2col: one row of the column matrix for each channel and kernel position.
#ifndef DL_KERNELS_CONV_COLUMNS_SHAPE_H_
#define DL_KERNELS_CONV_COLUMNS_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/image/image.h"

DL_KERNELS_BEGIN

struct ColumnsShape {
  ImageShape image;
  int64_t taps() const { return image.channels * image.y.kernel * image.x.kernel; }
  // Number of elements of one sample.
  int64_t elements() const { return taps() * image.output_plane(); }
  int64_t image_elements() const { return image.channels * image.input_plane(); }
};

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_COLUMNS_SHAPE_H_
