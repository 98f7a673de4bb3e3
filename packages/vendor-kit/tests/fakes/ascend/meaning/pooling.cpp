// Pooling.
#include "arguments.gen.h"
#include "precision.h"

using namespace fake_aclnn;

namespace {

// 0 stands for no divisor of the caller.
class Divisor {
 public:
  explicit Divisor(int64_t value) : value_(value) {}
  operator const int64_t*() const { return value_ == 0 ? nullptr : &value_; }

 private:
  int64_t value_;
};

// Positions of another dtype than int64 are converted.
template <typename F>
void with_positions(const Tensor& indices, F compute) {
  if (indices.dtype() == diopi_dtype_int64) return compute(indices);
  Tensor wide = empty(indices.sizes(), diopi_dtype_int64);
  compute(wide);
  assign(indices, wide);
}
Tensor wide_positions(const Tensor& indices) { return indices.to(diopi_dtype_int64); }

// An absent stride is the kernel.
Ints stride_or(const Ints& stride, const Ints& kernel) {
  return stride.values.empty() ? kernel : stride;
}

}  // namespace

MEANING(AvgPool2d) {
  check_cube(cubeMathType);
  RUN(diopiAvgPool2d, out, self, kernelSize, stride_or(strides, kernelSize), paddings, ceilMode,
      countIncludePad, Divisor(divisorOverride));
}
MEANING(AvgPool2dBackward) {
  check_cube(cubeMathType);
  RUN(diopiAvgPool2dBackward, gradInput, gradOutput, self, kernelSize,
      stride_or(stride, kernelSize), padding, ceilMode, countIncludePad, Divisor(divisorOverride));
}
MEANING(AvgPool3d) {
  RUN(diopiAvgPool3d, out, self, kernelSize, stride_or(stride, kernelSize), padding, ceilMode,
      countIncludePad, Divisor(divisorOverride));
}
MEANING(AvgPool3dBackward) {
  RUN(diopiAvgPool3dBackward, output, gradOutput, self, kernelSize, stride_or(stride, kernelSize),
      padding, ceilMode, countIncludePad, Divisor(divisorOverride));
}
MEANING(AdaptiveAvgPool2d) { RUN(diopiAdaptiveAvgPool2d, out, self, outputSize); }
MEANING(AdaptiveAvgPool2dBackward) { RUN(diopiAdaptiveAvgPool2dBackward, out, gradOutput, self); }
MEANING(AdaptiveAvgPool3d) { RUN(diopiAdaptiveAvgPool3d, out, self, outputSize); }
MEANING(AdaptiveAvgPool3dBackward) { RUN(diopiAdaptiveAvgPool3dBackward, out, gradOutput, self); }
MEANING(AdaptiveMaxPool2d) {
  with_positions(indicesOut, [&](const Tensor& wide) {
    RUN(diopiAdaptiveMaxPool2dWithIndices, outputOut, wide, self, outputSize);
  });
}
MEANING(AdaptiveMaxPool2dBackward) {
  RUN(diopiAdaptiveMaxPool2dBackward, gradInput, gradOutput, self, wide_positions(indices));
}
MEANING(AdaptiveMaxPool3d) {
  with_positions(indicesOut, [&](const Tensor& wide) {
    RUN(diopiAdaptiveMaxPool3dWithIndices, outputOut, wide, self, outputSize);
  });
}
MEANING(AdaptiveMaxPool3dBackward) {
  RUN(diopiAdaptiveMaxPool3dBackward, gradInput, gradOutput, self, wide_positions(indices));
}
MEANING(MaxPool2dWithIndices) {
  with_positions(indices, [&](const Tensor& wide) {
    RUN(diopiMaxPool2dWithIndices, out, wide, self, kernelSize, stride_or(stride, kernelSize),
        padding, dilation, ceilMode);
  });
}
MEANING(MaxPool2dWithIndicesBackward) {
  RUN(diopiMaxPool2dBackward, gradInput, gradOutput, self, kernelSize,
      stride_or(stride, kernelSize), padding, dilation, ceilMode, wide_positions(indices));
}
MEANING(MaxPool3dWithArgmax) {
  with_positions(indices, [&](const Tensor& wide) {
    RUN(diopiMaxPool3dWithIndices, out, wide, self, kernelSize, stride_or(stride, kernelSize),
        padding, dilation, ceilMode);
  });
}
MEANING(MaxPool3dWithArgmaxBackward) {
  RUN(diopiMaxPool3dBackward, gradInput, gradOutput, self, kernelSize,
      stride_or(stride, kernelSize), padding, dilation, ceilMode, wide_positions(indices));
}
// pads: both, {top and bottom, left and right}, or {top, left, bottom, right}.
MEANING(MaxPool) {
  demand(autoPad == 0, "autoPad is not 0");
  Ints padding = pads.values.empty() ? Ints{true, {0, 0}} : pads;
  if (padding.size() == 4) {
    demand(pads[0] == pads[2] && pads[1] == pads[3], "unequal padding is not simulated");
    padding.values.resize(2);
  }
  for (const int64_t dilation : dilations.values) demand(dilation == 1, "a dilation is not 1");
  const Ints stride = strides.values.empty() ? Ints{true, {1, 1}} : strides;
  RUN(diopiMaxPool2d, out, self, kernelShape, stride, padding, Ints{true, {1, 1}}, ceilMode != 0);
}
