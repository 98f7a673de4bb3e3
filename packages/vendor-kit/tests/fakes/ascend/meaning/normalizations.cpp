// Normalizations and softmax, and their gradients.
#include "reductions.h"

#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

Dtype accumulated(Dtype dtype) {
  return dtype == diopi_dtype_float64 ? dtype : diopi_dtype_float32;
}

// Returns the tensor in the dtype in which the engine accumulates; NULL stays NULL.
Tensor wide(const Tensor& tensor) {
  return tensor ? tensor.to(accumulated(tensor.dtype())) : tensor;
}

// Runs with an output in another dtype, and converts the result.
class Converted {
 public:
  Converted(const Tensor& out, Dtype dtype) : out_(out) {
    if (out) made_ = out.dtype() == dtype ? out : out.to(dtype);
  }
  operator diopiTensorHandle_t() const { return made_; }
  void finish() const {
    if (out_ && made_.dtype() != out_.dtype()) assign(out_, made_);
  }

 private:
  Tensor out_, made_;
};

Tensor if_wanted(bool wanted, const Tensor& tensor) {
  demand(!wanted || tensor, "an output that the mask wants is NULL");
  return wanted ? tensor : Tensor();
}

void demand_channels(const Tensor& tensor, const Tensor& input) {
  demand(!tensor || (tensor.rank() == 1 && tensor.size(0) == input.size(1)),
         "a tensor does not have one element per channel");
}

}  // namespace

// In training the statistics of the batch are stored, and running ones updated by momentum.
MEANING(BatchNorm) {
  const Dtype inner = accumulated(input.dtype());
  const Converted mean(runningMean, inner), variance(runningVar, inner);
  const Converted saved_mean(saveMean, inner), saved_invstd(saveInvstd, inner);
  for (const Tensor& tensor : {weight, bias, runningMean, runningVar})
    demand_channels(tensor, input);
  if (training) {
    demand_channels(saveMean, input);
    demand_channels(saveInvstd, input);
    RUN(diopiBatchNorm, output, saved_mean, saved_invstd, input, wide(weight), wide(bias), mean,
        variance, true, momentum, eps);
    saved_mean.finish();
    saved_invstd.finish();
    mean.finish();
    variance.finish();
  } else {
    RUN(diopiBatchNorm, output, nullptr, nullptr, input, wide(weight), wide(bias), mean, variance,
        false, momentum, eps);
  }
}
MEANING(BatchNormBackward) {
  const Dtype inner = accumulated(input.dtype());
  const Converted of_weight(if_wanted(outputMask[1], gradWeight), inner);
  const Converted of_bias(if_wanted(outputMask[2], gradBias), inner);
  RUN(diopiBatchNormBackward, if_wanted(outputMask[0], gradInput), of_weight, of_bias, gradOut,
      input, wide(weight), wide(runningMean), wide(runningVar),
      training ? wide(saveMean) : Tensor(), training ? wide(saveInvstd) : Tensor(), training, eps);
  of_weight.finish();
  of_bias.finish();
}
MEANING(BatchNormStats) { RUN(diopiBatchNormStats, mean, invstd, input, eps); }
// mean, invstd and counts have a row for each process; meanAll and invstdAll combine them.
MEANING(BatchNormGatherStatsWithCounts) {
  const Dtype inner = accumulated(input.dtype());
  const Converted running_mean(runningMean, inner), running_variance(runningVar, inner);
  RUN(diopiBatchNormGatherStatsWithCounts, meanAll, invstdAll, input, mean, invstd, running_mean,
      running_variance, static_cast<float>(momentum), static_cast<float>(eps), counts);
  running_mean.finish();
  running_variance.finish();
}
MEANING(BatchNormElemt) {
  RUN(diopiBatchNormElemt, output, input, wide(weight), wide(bias), mean, invstd,
      static_cast<float>(eps));
}
MEANING(BatchNormReduceBackward) {
  RUN(diopiBatchNormBackwardReduce, sumDy, sumDyXmu, gradWeight, gradBias, gradOut, input, mean,
      invstd, weight, inputG, weightG, biasG);
}
MEANING(BatchNormElemtBackward) {
  RUN(diopiBatchNormBackwardElemt, gradInput, gradOut, input, mean, invstd, wide(weight), sumDy,
      sumDyXmu, counter);
}

MEANING(LayerNorm) {
  RUN(diopiLayerNorm, out, meanOutOptional, rstdOutOptional, input, weightOptional, biasOptional,
      normalizedShape, eps);
}
MEANING(LayerNormBackward) {
  RUN(diopiLayerNormBackward, if_wanted(outputMask[0], gradInputOut),
      if_wanted(outputMask[1], gradWeightOut), if_wanted(outputMask[2], gradBiasOut), gradOut,
      input, weightOptional, biasOptional, mean, rstd, normalizedShape);
}
MEANING(GroupNorm) {
  demand(self.rank() >= 2 && self.size(0) == N && self.size(1) == C && self.numel() == N * C * HxW,
         "N, C and HxW are not those of self");
  RUN(diopiGroupNorm, out, meanOut, rstdOut, self, gamma, beta, group, eps);
}
MEANING(GroupNormBackward) {
  demand(
      input.rank() >= 2 && input.size(0) == N && input.size(1) == C && input.numel() == N * C * HxW,
      "N, C and HxW are not those of input");
  RUN(diopiGroupNormBackward, if_wanted(outputMask[0], gradInput),
      if_wanted(outputMask[1], gradGammaOut), if_wanted(outputMask[2], gradBetaOut), gradOut, input,
      gamma, mean, rstd, group);
}
// rstdOut has the leading dimensions of x, and 1 in place of gamma's dimensions.
MEANING(RmsNorm) {
  RUN(diopiRMSNorm, yOut, rstdOut, x, Ints{true, gamma.sizes()}, gamma.to(x.dtype()), nullptr,
      epsilon);
}
MEANING(AddRmsNorm) {
  RUN(diopiAdd, xOut, x1, x2, Scalar::of(1));
  RUN(diopiRMSNorm, yOut, rstdOut, xOut, Ints{true, gamma.sizes()}, gamma, nullptr, epsilon);
}
// dgammaOut is float32.
MEANING(RmsNormGrad) {
  demand(dgammaOut.dtype() == diopi_dtype_float32, "dgammaOut is not float32");
  const Dtype dtype = diopi_dtype_float32;
  Tensor of_x = empty(dxOut.sizes(), dtype);
  RUN(diopiRMSNormBackward, of_x, dgammaOut, nullptr, dy.to(dtype), x.to(dtype), gamma.to(dtype),
      nullptr, rstd, Ints{true, gamma.sizes()}, 0.0);
  assign(dxOut, of_x);
}

MEANING(Softmax) { RUN(diopiSoftmax, out, self, dim); }
MEANING(LogSoftmax) { RUN(diopiLogSoftmax, out, self, dim); }
MEANING(SoftmaxBackward) { RUN(diopiSoftmaxBackward, out, gradOutput, output, dim); }
MEANING(LogSoftmaxBackward) { RUN(diopiLogSoftmaxBackward, out, gradOutput, output, dim); }
MEANING(ScaledMaskedSoftmax) { RUN(diopiScaledMaskedSoftmax, y, x, mask, scale, fixedTriuMask); }
MEANING(ScaledMaskedSoftmaxBackward) {
  RUN(diopiScaledMaskedSoftmaxBackward, out, gradOutput, y, mask, scale, fixTriuMask);
}
