// Optimizers, gradient scaling, and functions of lists of tensors.
#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

// Steps are float32 or int64; the engine reads floating-point steps.
std::vector<Tensor> floating_steps(const Tensors& steps) {
  std::vector<Tensor> list;
  for (const Tensor& step : steps.values) list.push_back(step.to(diopi_dtype_float32));
  return list;
}

double element(const Tensor& tensor) {
  const Tensor value = tensor.to(diopi_dtype_float64);
  return *static_cast<const double*>(value.data());
}

}  // namespace

MEANING(ForeachAddScalarV2) {
  RUN(diopiForeachaddScalar, Handles(out.values), Handles(x.values), x.size(), scalar);
}
MEANING(ForeachMulScalarV2) {
  RUN(diopiForeachmulScalar, Handles(out.values), Handles(x.values), x.size(), scalar);
}
MEANING(ForeachMulScalar) {
  RUN(diopiForeachmulTensor, Handles(out.values), Handles(x.values), x.size(), scalar);
}
MEANING(ForeachNorm) {
  RUN(diopiForeachnormScalar, Handles(out.values), Handles(x.values), x.size(), scalar);
}
MEANING(ForeachNonFiniteCheckAndUnscale) {
  RUN(diopiAmpForeachNonFiniteCheckAndUnscaleInp, Handles(scaledGrads.values), scaledGrads.size(),
      foundInf, invScale);
}
MEANING(AmpUpdateScale) {
  assign(updatedScale, currentScale);
  assign(updatedGrowthTracker, growthTracker);
  RUN(diopiAmpUpdateScaleInp, updatedScale, updatedGrowthTracker, foundInf, growthFactor,
      backoffFactor, static_cast<int32_t>(growthInterval));
}

// The step t counts from 1. A gradient scale divides; a found infinity stops the update.
MEANING(FusedAdamw) {
  if (foundInfOptional && element(foundInfOptional) != 0) return;
  std::vector<Tensor> gradients = grads.values;
  if (gradScaleOptional) {
    for (Tensor& gradient : gradients) {
      Tensor scaled = empty_like(gradient);
      RUN(diopiDiv, scaled, gradient, gradScaleOptional, RoundModeNone);
      gradient = scaled;
    }
  }
  const std::vector<Tensor> steps = floating_steps(stateSteps);
  Handles largest(maxExpAvgSqsRef.values);
  diopiTensorHandle_t* maxima = amsgrad ? static_cast<diopiTensorHandle_t*>(largest) : nullptr;
  RUN(diopiFusedAdamW, Handles(paramsRef.values), Handles(gradients), Handles(expAvgsRef.values),
      Handles(expAvgSqsRef.values), maxima, Handles(steps), paramsRef.size(), lr, beta1, beta2, eps,
      weightDecay, amsgrad, maximize);
}
MEANING(ApplyAdamWV2) {
  demand(step.numel() == 1, "step does not have one element");
  const Tensor gradient = grad.to(varRef.dtype()), count = step.to(diopi_dtype_float32);
  Handles largest({maxGradNormOptionalRef});
  diopiTensorHandle_t* maxima = amsgrad ? static_cast<diopiTensorHandle_t*>(largest) : nullptr;
  RUN(diopiFusedAdamW, Handles({varRef}), Handles({gradient}), Handles({mRef}), Handles({vRef}),
      maxima, Handles({count}), 1, lr, beta1, beta2, eps, weightDecay, amsgrad, maximize);
}
// v = momentum * v + (1 - dampening) * g, and in the first step v = g.
MEANING(FusedSgd) {
  for (size_t i = 0; i < paramsRef.values.size(); ++i) {
    const Tensor parameter = paramsRef[i], stored = gradsRef[i];
    if (gradScaleOptional) RUN(diopiDivInp, stored, gradScaleOptional, RoundModeNone);
    Tensor gradient = empty_like(stored);
    RUN(diopiMulScalar, gradient, stored, Scalar(maximize ? -1.0 : 1.0));
    RUN(diopiAddInp, gradient, parameter, Scalar(weightDecay));
    const bool has_momentum = momentumBufferListOptionalRef.present && momentum != 0;
    if (has_momentum) {
      const Tensor velocity = momentumBufferListOptionalRef[i];
      if (isFirstStep) {
        assign(velocity, gradient);
      } else {
        RUN(diopiMulInpScalar, velocity, Scalar(momentum));
        RUN(diopiAddInp, velocity, gradient, Scalar(1 - dampening));
      }
      if (nesterov)
        RUN(diopiAddInp, gradient, velocity, Scalar(momentum));
      else
        gradient = velocity;
    }
    RUN(diopiAddInp, parameter, gradient, Scalar(-lr));
  }
}
