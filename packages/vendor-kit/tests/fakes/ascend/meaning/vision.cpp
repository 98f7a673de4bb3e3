// Functions of images, regions and points.
#include <cmath>

#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

// A scale <= 0 stands for the ratio of the sizes; any other scale must agree with the sizes.
void check_scale(double scale, int64_t out, int64_t in) {
  if (scale <= 0) return;
  demand(std::abs(scale * static_cast<double>(in) - static_cast<double>(out)) < 1,
         "a scale is not that of the sizes");
}

}  // namespace

// interpolationMode: 0 bilinear, 1 nearest, 2 bicubic. paddingMode: 0 zeros.
MEANING(GridSampler2D) {
  demand(interpolationMode >= 0 && interpolationMode <= 2, "interpolationMode is not from 0 to 2");
  demand(paddingMode == 0 && !alignCorners, "this padding or alignment is not simulated");
  const char* const modes[] = {"bilinear", "nearest", "bicubic"};
  RUN(diopiGridSample, out, input, grid, modes[interpolationMode]);
}
MEANING(UpsampleNearest2d) { RUN(diopiUpsampleNearest, out, self, outputSize); }
MEANING(UpsampleNearest2dBackward) {
  check_scale(scalesH, outputSize[0], inputSize[2]);
  check_scale(scalesW, outputSize[1], inputSize[3]);
  RUN(diopiUpsampleNearestBackward, gradInput, gradOut, outputSize, inputSize);
}
MEANING(UpsampleBilinear2d) {
  check_scale(scalesH, outputSize[0], self.size(2));
  check_scale(scalesW, outputSize[1], self.size(3));
  RUN(diopiUpsampleLinear, out, self, outputSize, alignCorners, "bilinear");
}
MEANING(UpsampleBilinear2dBackward) {
  check_scale(scalesH, outputSize[0], inputSize[2]);
  check_scale(scalesW, outputSize[1], inputSize[3]);
  RUN(diopiUpsampleLinearBackward, out, gradOut, outputSize, inputSize, alignCorners, "bilinear");
}
// boxes: the image, x1, y1, x2, y2.
MEANING(RoiAlignV2) {
  RUN(diopiRoiAlign, out, self, boxes, spatialScale, pooledHeight, pooledWidth, samplingRatio,
      aligned);
}
MEANING(RoiAlignV2Backward) {
  RUN(diopiRoiAlignBackward, gradInput, gradOutput, boxes, spatialScale, pooledHeight, pooledWidth,
      inputShape[0], inputShape[1], inputShape[2], inputShape[3], samplingRatio, aligned);
}
MEANING(MultiScaleDeformableAttnFunction) {
  const auto found = engine_outputs("diopiMsDeformAttnMmcv", 1, [&](auto ctx, auto* outputs) {
    return reinterpret_cast<decltype(&::diopiMsDeformAttnMmcv)>(
        engine_function("diopiMsDeformAttnMmcv"))(
        ctx, outputs, value, spatialShape.to(diopi_dtype_int64),
        levelStartIndex.to(diopi_dtype_int64), location, attnWeight, value.size(0));
  });
  demand(found[0].sizes() == output.sizes(), "output is not [batch, queries, heads * channels]");
  assign(output, found[0]);
}
MEANING(MultiScaleDeformableAttentionGrad) {
  for (const Tensor& gradient : {gradValue, gradLocation, gradAttnWeight})
    RUN(diopiFill, gradient, Scalar::of(0));
  RUN(diopiMsDeformAttnBackwardMmcv, gradValue, gradLocation, gradAttnWeight, value,
      spatialShape.to(diopi_dtype_int64), levelStartIndex.to(diopi_dtype_int64), location,
      attnWeight, gradOutput, value.size(0));
}
MEANING(ChamferDistanceBackward) {
  RUN(diopiFill, gradXyz1, Scalar::of(0));
  RUN(diopiFill, gradXyz2, Scalar::of(0));
  RUN(diopiChamferDistanceBackwardMmcv, gradXyz1, gradXyz2, xyz1, xyz2, idx1, idx2, gradDist1,
      gradDist2);
}
// grad_y [b, c, m] gets grad_x [b, c, n] times the weights of the three neighbours.
MEANING(ThreeInterpolateBackward) {
  demand(grad_x.rank() >= 3 && grad_y.rank() >= 3, "a gradient has less than three dimensions");
  const int64_t b = grad_x.size(0), c = grad_x.size(1), n = grad_x.size(2);
  demand(grad_y.size(2) == m, "m is not the size of grad_y");
  Tensor sums = empty({b, c, m}, grad_y.dtype());
  RUN(diopiThreeInterpolateBackwardMmcv, sums, grad_x.reshape({b, c, n}),
      idx.to(diopi_dtype_int32).reshape({b, n, 3}), weight.reshape({b, n, 3}), b, c, n, m);
  assign(grad_y, sums.reshape(grad_y.sizes()));
}
// offset: the x offsets, the y offsets and, if modulated, the masks of all positions; strides and
// dilations are of the four dimensions, padding is top, bottom, left, right.
MEANING(DeformableConv2d) {
  demand(
      stride.size() == 4 && dilation.size() == 4 && padding.size() == 4 && kernelSize.size() == 2,
      "a list has another number of entries");
  demand(padding[0] == padding[1] && padding[2] == padding[3], "unequal padding is not simulated");
  demand(stride[0] == 1 && stride[1] == 1 && dilation[0] == 1 && dilation[1] == 1,
         "strides and dilations of the batch or of channels are not 1");
  const int64_t window = kernelSize[0] * kernelSize[1], count = deformableGroups * window;
  demand(offset.size(1) == (modulated ? 3 : 2) * count, "offset has another number of channels");
  demand(weight.size(2) == kernelSize[0] && weight.size(3) == kernelSize[1],
         "kernelSize is not that of weight");
  // The engine alternates y and x.
  Tensor places = empty({x.size(0), 2 * count, offset.size(2), offset.size(3)}, offset.dtype());
  for (int64_t i = 0; i < count; ++i) {
    assign(places.narrow(1, 2 * i, 1), offset.narrow(1, count + i, 1));
    assign(places.narrow(1, 2 * i + 1, 1), offset.narrow(1, i, 1));
  }
  Tensor masks = filled({x.size(0), count, offset.size(2), offset.size(3)}, offset.dtype(), 1);
  if (modulated) assign(masks, offset.narrow(1, 2 * count, count));
  RUN(diopiModulatedDeformConvMmcv, out, nullptr, nullptr, x, weight, biasOptional, places, masks,
      kernelSize[0], kernelSize[1], stride[2], stride[3], padding[0], padding[2], dilation[2],
      dilation[3], groups, deformableGroups, static_cast<bool>(biasOptional));
}
