// Maxima of samples along the borders of boxes, and their gradient. Source: Qiu et al., BorderDet:
// Border Feature for Dense Object Detection (2020).
#ifndef DL_KERNELS_IMAGE_BORDERS_H_
#define DL_KERNELS_IMAGE_BORDERS_H_

#include "dl_kernels/base/wide.h"
#include "dl_kernels/image/bilinear.h"
#include "dl_kernels/image/regions.h"

DL_KERNELS_BEGIN

// Samples along one border of a box: top and left start from its first corner, bottom and right run
// back from its second.
struct Border {
  double x, y, x_step, y_step;

  DL_FN Border(const double* box, int64_t side, int64_t pool_size) {
    const double sign = side < 2 ? 1 : -1, steps = static_cast<double>(pool_size);
    x = box[side < 2 ? 0 : 2];
    y = box[side < 2 ? 1 : 3];
    x_step = side % 2 == 0 ? sign * (box[2] - box[0]) / steps : 0;
    y_step = side % 2 == 1 ? sign * (box[3] - box[1]) / steps : 0;
  }
  DL_FN BilinearCells sample(int64_t i, int64_t height, int64_t width) const {
    const auto steps = static_cast<double>(i);
    return clamped_cells(y + steps * y_step, x + steps * x_step, height, width);
  }
};

template <class C>
struct BorderItem {
  C* out;
  int32_t* argmax;
  const C* input;
  const double* boxes;
  int64_t channels, count, pool_size, height, width;

  DL_FN void operator()(int64_t item) const {
    const int64_t side = item % 4, k = item / 4 % count, channel = item / (4 * count) % channels;
    const int64_t n = item / (4 * count * channels), cells = height * width;
    const C* plane = input + ((n * 4 + side) * channels + channel) * cells;
    const Border border(boxes + 4 * (n * count + k), side, pool_size);
    C best = 0;
    int64_t best_index = 0;
    for (int64_t i = 0; i <= pool_size; ++i) {
      const C value = border.sample(i, height, width).value(plane);
      if (i > 0 && !(value > best) && (value == value || best != best)) continue;
      best = value;
      best_index = i;
    }
    out[item] = best;
    argmax[item] = static_cast<int32_t>(best_index);
  }
};

template <class C>
struct BorderGradientItem {
  C* out;
  const C* grad;
  const int32_t* argmax;
  const double* boxes;
  int64_t channels, count, pool_size, height, width;

  DL_FN void operator()(int64_t item) const {
    const int64_t channel = item % channels, side = item / channels % 4, n = item / channels / 4;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = ((n * channels + channel) * count + k) * 4 + side;
      const Border border(boxes + 4 * (n * count + k), side, pool_size);
      border.sample(argmax[at], height, width).add(out + item * height * width, grad[at]);
    }
  }
};

struct BorderSizes {
  int64_t batches, channels, count, height, width;
};

inline diopiError_t open_borders(const char* op, const TensorRef& whole, const TensorRef& pooled,
                                 const TensorRef& argmax, const TensorRef& boxes, int64_t pool_size,
                                 BorderSizes* sizes) {
  if (!alike<kFloats>({whole, pooled, boxes}) || !all_indexes({argmax}))
    return diopiDtypeNotSupported;
  DL_TRY(check_positive(op, {{"pool_size", pool_size}}));
  if (pool_size > kMostSamples)
    return fail(op, "pool_size is %lld; it can be at most %lld", (long long)pool_size,
                (long long)kMostSamples);
  DL_TRY(
      check_sizes(op, "the tensor of features", whole, {kAnySize, kAnySize, kAnySize, kAnySize}));
  if (whole.sizes[1] % 4 != 0)
    return fail(op, "%lld channels cannot be divided among four borders",
                (long long)whole.sizes[1]);
  DL_TRY(check_sizes(op, "boxes", boxes, {whole.sizes[0], kAnySize, 4}));
  *sizes = {whole.sizes[0], whole.sizes[1] / 4, boxes.sizes[1], whole.sizes[2], whole.sizes[3]};
  DL_TRY(check_sizes(op, "the tensor of maxima", pooled,
                     {sizes->batches, sizes->channels, sizes->count, 4}));
  return check_sizes(op, "argmax_idx", argmax, {sizes->batches, sizes->channels, sizes->count, 4});
}

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_BORDERS_H_
