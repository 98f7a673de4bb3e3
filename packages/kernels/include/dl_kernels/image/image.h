// Sliding windows over images: geometry shared by convolution and pooling.
#ifndef DL_KERNELS_IMAGE_IMAGE_H_
#define DL_KERNELS_IMAGE_IMAGE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// One image axis. Window `o` covers the input positions start(o) + k · dilation for k in [0,
// kernel).
struct Axis {
  int64_t input, output, kernel, stride, padding, dilation;
  DL_FN int64_t start(int64_t o) const { return o * stride - padding; }
};

// An input of shape (N, C, H, W), or (C, H, W) for a single sample.
struct ImageShape {
  int64_t samples, channels;
  Axis y, x;
  int64_t input_plane() const { return y.input * x.input; }
  int64_t output_plane() const { return y.output * x.output; }
};

// Upper bound of window parameters, so that the beginning and end of windows do not overflow.
inline constexpr int64_t kMostOfWindow = int64_t(1) << 31;

// Check the window parameters of an axis.
inline diopiError_t check_window(const char* op, const Axis& axis) {
  const char* wrong = nullptr;
  if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1 || axis.padding < 0)
    wrong = "only the padding may be 0, and none may be negative";
  if (axis.kernel > kMostOfWindow || axis.stride > kMostOfWindow || axis.padding > kMostOfWindow ||
      axis.dilation > kMostOfWindow)
    wrong = "a window is too large; none may exceed 2^31";
  if (wrong == nullptr) return diopiSuccess;
  return fail(op, "kernel %lld, stride %lld, padding %lld, dilation %lld: %s",
              (long long)axis.kernel, (long long)axis.stride, (long long)axis.padding,
              (long long)axis.dilation, wrong);
}

// Check that a list has one entry per axis, a single entry, or none.
inline diopiError_t check_axis_list(const char* op, const char* name, diopiSize_t list, int axes) {
  if (list.data == nullptr || list.len <= 1 || list.len == axes) return diopiSuccess;
  return fail(op, "the list of %s has %lld entries; it needs 1 or %d", name, (long long)list.len,
              axes);
}

// Return entry `i` of a list that check_axis_list has accepted.
inline int64_t axis_value(diopiSize_t list, int i, int64_t missing) {
  if (list.data == nullptr || list.len == 0) return missing;
  return list.data[list.len == 1 ? 0 : i];
}

// Fill in sizes from the tensors and window parameters from the lists, and check that they are
// consistent.
inline diopiError_t image_shape(const char* op, const TensorRef& input, const TensorRef& output,
                                diopiSize_t kernel, diopiSize_t stride, diopiSize_t padding,
                                diopiSize_t dilation, ImageShape* shape) {
  if ((input.ndim != 3 && input.ndim != 4) || output.ndim != input.ndim) {
    return fail(op, "tensors with %lld and %lld dimensions were given; both need 3 or 4",
                (long long)input.ndim, (long long)output.ndim);
  }
  DL_TRY(check_axis_list(op, "kernel sizes", kernel, 2));
  DL_TRY(check_axis_list(op, "strides", stride, 2));
  DL_TRY(check_axis_list(op, "paddings", padding, 2));
  DL_TRY(check_axis_list(op, "dilations", dilation, 2));
  const int64_t c = input.ndim - 3;
  shape->samples = input.ndim == 4 ? input.sizes[0] : 1;
  shape->channels = input.sizes[c];
  Axis* const axes[2] = {&shape->y, &shape->x};
  for (int i = 0; i < 2; ++i) {
    Axis& axis = *axes[i];
    axis.input = input.sizes[c + 1 + i];
    axis.output = output.sizes[c + 1 + i];
    axis.kernel = axis_value(kernel, i, 1);
    axis.stride = axis_value(stride, i, axis.kernel);
    axis.padding = axis_value(padding, i, 0);
    axis.dilation = axis_value(dilation, i, 1);
    DL_TRY(check_window(op, axis));
    if (axis.output > 0 && axis.start(axis.output - 1) >= axis.input + axis.padding) {
      return fail(op, "%lld windows do not fit on %lld elements", (long long)axis.output,
                  (long long)axis.input);
    }
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_IMAGE_H_
