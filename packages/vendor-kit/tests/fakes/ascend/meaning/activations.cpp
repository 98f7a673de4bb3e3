// Activation functions and their gradients.
#include "arguments.gen.h"

using namespace fake_aclnn;

MEANING(Relu) { RUN(diopiRelu, out, self); }
MEANING(InplaceRelu) { RUN(diopiReluInp, selfRef); }
MEANING(Sigmoid) { RUN(diopiSigmoid, out, self); }
MEANING(SigmoidBackward) { RUN(diopiSigmoidBackward, gradInput, gradOutput, output); }
MEANING(TanhBackward) { RUN(diopiTanhBackward, gradInput, gradOutput, output); }
MEANING(Silu) { RUN(diopiSilu, out, self); }
MEANING(SiluBackward) { RUN(diopiSiluBackward, gradInput, gradOutput, self); }
MEANING(Mish) { RUN(dlopMish, out, self); }
MEANING(MishBackward) { RUN(dlopMishBackward, gradInput, gradOutput, self); }

// approximate: 0 for the exact function, 1 for the approximation by tanh.
MEANING(GeluV2) {
  demand(approximate == 0 || approximate == 1, "approximate is neither 0 nor 1");
  RUN(diopiGelu, y, x, approximate == 1 ? "tanh" : "none");
}
MEANING(GeluBackwardV2) {
  demand(approximate == "none" || approximate == "tanh", "approximate is neither none nor tanh");
  RUN(diopiGeluBackward, gradInput, gradOutput, self, approximate.c_str());
}

MEANING(LeakyRelu) { RUN(diopiLeakyRelu, out, self, negativeSlope); }
MEANING(InplaceLeakyRelu) { RUN(diopiLeakyReluInp, selfRef, negativeSlope); }
MEANING(LeakyReluBackward) {
  RUN(diopiLeakyReluBackward, out, gradOutput, self, negativeSlope, selfIsResult);
}
// value where self is at most the threshold.
MEANING(Threshold) { RUN(diopiThreshold, out, self, threshold, value); }
MEANING(InplaceThreshold) { RUN(diopiThresholdInp, selfRef, threshold, value); }
MEANING(ThresholdBackward) { RUN(diopiThresholdBackward, out, gradOutput, self, threshold); }

MEANING(Hardtanh) { RUN(diopiHardtanh, out, self, clipValueMin, clipValueMax); }
MEANING(InplaceHardtanh) { RUN(diopiHardtanhInp, selfRef, clipValueMin, clipValueMax); }
MEANING(HardtanhBackward) { RUN(diopiHardtanhBackward, out, gradOutput, self, min, max); }
MEANING(Hardswish) { RUN(diopiHardswish, out, self); }
MEANING(InplaceHardswish) { RUN(diopiHardswishInp, self); }
MEANING(HardswishBackward) { RUN(diopiHardswishBackward, out, gradOutput, self); }
MEANING(Hardsigmoid) { RUN(dlopHardsigmoid, out, self); }
MEANING(HardsigmoidBackward) { RUN(dlopHardsigmoidBackward, out, gradOutput, self); }
MEANING(Hardshrink) { RUN(dlopHardshrink, out, self, lambd.real()); }
MEANING(HardshrinkBackward) { RUN(dlopShrinkBackward, gradInput, gradOutput, self, lambd.real()); }
MEANING(Softshrink) { RUN(dlopSoftshrink, out, self, lambd.real()); }

// scale * (max(0, x) + min(0, alpha * (exp(inputScale * x) - 1)))
MEANING(Elu) { RUN(dlopElu, out, self, alpha.real(), scale.real(), inputScale.real()); }
MEANING(EluBackward) {
  RUN(dlopEluBackward, gradInput, gradOutput, selfOrResult, alpha.real(), scale.real(),
      inputScale.real(), isResult);
}
// log(1 + exp(beta * x)) / beta, and x where beta * x > threshold.
MEANING(Softplus) { RUN(dlopSoftplus, out, self, beta.real(), threshold.real()); }
MEANING(SoftplusBackward) {
  RUN(dlopSoftplusBackward, gradInput, gradOutput, self, beta.real(), threshold.real());
}
MEANING(LogSigmoidForward) { RUN(dlopLogSigmoid, out, buffer, self); }
MEANING(LogSigmoidBackward) {
  // The buffer has elements only where the forward pass stored them.
  const Tensor stored = buffer.numel() == gradOutput.numel() ? buffer : empty_like(gradOutput);
  if (buffer.numel() != gradOutput.numel()) {
    Tensor result = empty_like(gradOutput);
    RUN(dlopLogSigmoid, result, stored, self);
  }
  RUN(dlopLogSigmoidBackward, gradInput, gradOutput, self, stored);
}
