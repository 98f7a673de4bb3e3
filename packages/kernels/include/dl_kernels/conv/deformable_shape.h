// Geometry of a 2-D convolution whose windows are displaced by learned offsets.
#ifndef DL_KERNELS_CONV_DEFORMABLE_SHAPE_H_
#define DL_KERNELS_CONV_DEFORMABLE_SHAPE_H_

#include <cstdint>
#include <initializer_list>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/image/image.h"

DL_KERNELS_BEGIN

struct DeformableShape {
  int64_t samples, channels, filters, groups, deformable_groups;
  Axis y, x;

  DL_FN int64_t window() const { return y.kernel * x.kernel; }
  DL_FN int64_t cells() const { return y.input * x.input; }
  DL_FN int64_t positions() const { return y.output * x.output; }
  DL_FN int64_t group_filters() const { return filters / groups; }
  // Rows of the column matrix for one filter, and for all groups.
  DL_FN int64_t taps() const { return channels / groups * window(); }
  DL_FN int64_t lines() const { return channels * window(); }
  DL_FN int64_t deformable_channels() const { return channels / deformable_groups; }
};

namespace detail {

// Below these bounds, positions and numbers of elements do not overflow.
inline constexpr int64_t kLongestAxis = int64_t(1) << 40, kLargestStep = int64_t(1) << 20;

inline diopiError_t check_axis(const char* op, char name, Axis& axis) {
  if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1 || axis.padding < 0) {
    return fail(op,
                "kernel %lld, stride %lld, padding %lld, dilation %lld along %c: only the padding "
                "may be 0, and none may be negative",
                (long long)axis.kernel, (long long)axis.stride, (long long)axis.padding,
                (long long)axis.dilation, name);
  }
  if (axis.input > kLongestAxis || axis.kernel > kLargestStep || axis.stride > kLargestStep ||
      axis.padding > kLargestStep || axis.dilation > kLargestStep) {
    return fail(op,
                "kernel %lld, stride %lld, padding %lld, dilation %lld on %lld elements along %c "
                "are too large",
                (long long)axis.kernel, (long long)axis.stride, (long long)axis.padding,
                (long long)axis.dilation, (long long)axis.input, name);
  }
  const int64_t room = axis.input + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  if (room < 0) {
    return fail(op, "a kernel of %lld with dilation %lld does not fit on %lld elements along %c",
                (long long)axis.kernel, (long long)axis.dilation, (long long)axis.input, name);
  }
  axis.output = room / axis.stride + 1;
  return diopiSuccess;
}

}  // namespace detail

// Check the tensors against the arguments. The caller has filled in the fields of `shape` that are
// arguments; an absent `mask` has no dtype.
inline diopiError_t deformable_shape(const char* op, const TensorRef& output,
                                     const TensorRef& input, const TensorRef& weight,
                                     const TensorRef& offset, const TensorRef* mask,
                                     DeformableShape* shape) {
  DL_TRY(check_sizes(op, "the input", input, {kAnySize, kAnySize, kAnySize, kAnySize}));
  shape->samples = input.sizes[0];
  shape->channels = input.sizes[1];
  shape->y.input = input.sizes[2];
  shape->x.input = input.sizes[3];
  DL_TRY(detail::check_axis(op, 'y', shape->y));
  DL_TRY(detail::check_axis(op, 'x', shape->x));
  DL_TRY(check_positive(
      op, {{"groups", shape->groups}, {"deformable groups", shape->deformable_groups}}));
  if (shape->channels % shape->groups != 0 || shape->channels % shape->deformable_groups != 0 ||
      shape->deformable_groups > detail::kLargestStep) {
    return fail(op, "%lld channels do not divide into %lld groups and %lld deformable groups",
                (long long)shape->channels, (long long)shape->groups,
                (long long)shape->deformable_groups);
  }
  DL_TRY(
      check_sizes(op, "the weight", weight,
                  {kAnySize, shape->channels / shape->groups, shape->y.kernel, shape->x.kernel}));
  shape->filters = weight.sizes[0];
  if (shape->filters % shape->groups != 0) {
    return fail(op, "%lld filters do not divide into %lld groups", (long long)shape->filters,
                (long long)shape->groups);
  }
  const int64_t samples = shape->deformable_groups * shape->window();
  DL_TRY(check_sizes(op, "the offset", offset,
                     {shape->samples, 2 * samples, shape->y.output, shape->x.output}));
  if (mask != nullptr) {
    DL_TRY(check_sizes(op, "the mask", *mask,
                       {shape->samples, samples, shape->y.output, shape->x.output}));
  }
  return check_sizes(op, "the output", output,
                     {shape->samples, shape->filters, shape->y.output, shape->x.output});
}

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_DEFORMABLE_SHAPE_H_
