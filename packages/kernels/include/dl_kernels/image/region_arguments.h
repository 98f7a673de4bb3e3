// Checks of the arguments of region (RoI) operators.
#ifndef DL_KERNELS_IMAGE_REGION_ARGUMENTS_H_
#define DL_KERNELS_IMAGE_REGION_ARGUMENTS_H_

#include "dl_kernels/image/regions.h"

DL_KERNELS_BEGIN

struct RegionArguments {
  int64_t pooled_height, pooled_width, sampling_ratio, directions;
  double scale;
  bool aligned, rotated, clockwise, forces_size;
};

// `pooled` [K, C, h, w] and `whole` [N, C, H, W]; either may be the output.
inline diopiError_t open_regions(const char* op, const TensorRef& pooled, const TensorRef& whole,
                                 const TensorRef& rois, const RegionArguments& a,
                                 Regions* regions) {
  if (!alike<kFloats>({pooled, whole, rois})) return diopiDtypeNotSupported;
  DL_TRY(check_positive(op, {{"the pooled height", a.pooled_height},
                             {"the pooled width", a.pooled_width},
                             {"the number of orientations", a.directions}}));
  DL_TRY(check_samples(op, a.sampling_ratio));
  DL_TRY(
      check_sizes(op, "the tensor of features", whole, {kAnySize, kAnySize, kAnySize, kAnySize}));
  DL_TRY(check_sizes(op, "rois", rois, {kAnySize, a.rotated ? 6 : 5}));
  const int64_t channels = whole.sizes[1];
  DL_TRY(check_sizes(op, "the tensor of bins", pooled,
                     {rois.sizes[0], channels, a.pooled_height, a.pooled_width}));
  if (channels % a.directions != 0)
    return fail(op, "%lld channels cannot be divided among %lld orientations", (long long)channels,
                (long long)a.directions);
  *regions = Regions{nullptr,
                     nullptr,
                     rois.sizes[0],
                     whole.sizes[0],
                     channels,
                     whole.sizes[2],
                     whole.sizes[3],
                     a.pooled_height,
                     a.pooled_width,
                     a.sampling_ratio,
                     a.directions,
                     a.scale,
                     a.aligned ? 0.5 : 0,
                     a.forces_size ? 1.0 : -HUGE_VAL,
                     0,
                     a.rotated,
                     a.clockwise};
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_REGION_ARGUMENTS_H_
