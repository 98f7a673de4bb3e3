// Geometry of a convolution with three spatial axes; a 2-D convolution has extent 1 on the first.
#ifndef DL_KERNELS_CONV_CONV_SHAPE_H_
#define DL_KERNELS_CONV_CONV_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/image/image.h"

DL_KERNELS_BEGIN

struct ConvShape {
  int dims;  // 2 or 3: the tensors have the last `dims` of `axes`
  int64_t samples, channels, filters, groups;
  Axis axes[3];

  DL_FN int64_t group_channels() const { return channels / groups; }
  DL_FN int64_t group_filters() const { return filters / groups; }
  DL_FN int64_t window() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  DL_FN int64_t taps() const { return group_channels() * window(); }
  DL_FN int64_t input_plane() const { return axes[0].input * axes[1].input * axes[2].input; }
  DL_FN int64_t output_plane() const { return axes[0].output * axes[1].output * axes[2].output; }
};

// Parameters of the windows. `output_padding` extends one side of a transposed convolution's
// result.
struct ConvLists {
  diopiSize_t stride, padding, dilation, output_padding;
};

// Check `input`, `weight` and `output` against each other and fill in `shape`. For a transposed
// convolution, `input` is its result and `output` its argument. The sample dimension is optional.
inline diopiError_t conv_shape(const char* op, int dims, const TensorRef& output,
                               const TensorRef& input, const TensorRef& weight,
                               const ConvLists& lists, int64_t groups, bool transposed,
                               ConvShape* shape) {
  if (weight.ndim != dims + 2) {
    return fail(op, "the weight has %lld dimensions; it needs %d", (long long)weight.ndim,
                dims + 2);
  }
  if ((input.ndim != dims + 1 && input.ndim != dims + 2) || output.ndim != input.ndim) {
    return fail(op, "tensors with %lld and %lld dimensions were given; both need %d or %d",
                (long long)input.ndim, (long long)output.ndim, dims + 1, dims + 2);
  }
  DL_TRY(check_axis_list(op, "strides", lists.stride, dims));
  DL_TRY(check_axis_list(op, "paddings", lists.padding, dims));
  DL_TRY(check_axis_list(op, "dilations", lists.dilation, dims));
  DL_TRY(check_axis_list(op, "output paddings", lists.output_padding, dims));
  const int64_t c = input.ndim - dims - 1;
  shape->dims = dims;
  shape->samples = c == 1 ? input.sizes[0] : 1;
  shape->channels = input.sizes[c];
  shape->filters = weight.sizes[0];
  shape->groups = groups;
  if (groups < 1 || shape->channels % groups != 0 || shape->filters % groups != 0 ||
      weight.sizes[1] * groups != shape->channels) {
    return fail(op,
                "%lld input channels, %lld filters of %lld channels and %lld groups do not agree",
                (long long)shape->channels, (long long)shape->filters, (long long)weight.sizes[1],
                (long long)groups);
  }
  if (output.sizes[c] != shape->filters || (c == 1 && output.sizes[0] != shape->samples)) {
    return fail(op, "the output must have the input's samples and the weight's %lld channels",
                (long long)shape->filters);
  }
  shape->axes[0] = {1, 1, 1, 1, 0, 1};
  for (int i = 0; i < dims; ++i) {
    Axis& axis = shape->axes[3 - dims + i];
    axis.input = input.sizes[c + 1 + i];
    axis.output = output.sizes[c + 1 + i];
    axis.kernel = weight.sizes[2 + i];
    axis.stride = axis_value(lists.stride, i, 1);
    axis.padding = axis_value(lists.padding, i, 0);
    axis.dilation = axis_value(lists.dilation, i, 1);
    DL_TRY(check_window(op, axis));
    const int64_t more = axis_value(lists.output_padding, i, 0);
    const int64_t most = axis.stride > axis.dilation ? axis.stride : axis.dilation;
    if (transposed && (more < 0 || more >= most)) {
      return fail(op,
                  "output padding is %lld; it must be at least 0 and less than %lld, the larger "
                  "of stride and dilation",
                  (long long)more, (long long)most);
    }
    // Range of the first positions of windows.
    const int64_t room = axis.input + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
    const int64_t begins = transposed ? room - more : room;
    const int64_t fitting = begins < 0 ? 0 : begins / axis.stride + 1;
    if (axis.output != fitting || fitting == 0 || (transposed && begins % axis.stride != 0)) {
      const int64_t from = transposed ? axis.output : axis.input;
      const int64_t to = transposed ? axis.input : axis.output;
      return fail(op,
                  "a kernel of %lld with stride %lld, padding %lld, dilation %lld and output "
                  "padding %lld on %lld elements does not give %lld outputs",
                  (long long)axis.kernel, (long long)axis.stride, (long long)axis.padding,
                  (long long)axis.dilation, (long long)more, (long long)from, (long long)to);
    }
  }
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_CONV_SHAPE_H_
