// Losses. A reduction is 0 for none, 1 for the mean, 2 for the sum.
#include "arguments.gen.h"

using namespace fake_aclnn;

namespace {

diopiReduction_t reduction_of(int64_t number) {
  demand(number >= 0 && number <= 2, "reduction is not from 0 to 2");
  return static_cast<diopiReduction_t>(number);
}

// The lengths of sequences as a tensor.
Tensor lengths_of(const Ints& ints) {
  Tensor made = empty({ints.size()}, diopi_dtype_int64);
  for (size_t i = 0; i < ints.values.size(); ++i)
    static_cast<int64_t*>(made.data())[i] = ints.values[i];
  return made;
}

}  // namespace

MEANING(MseLoss) { RUN(diopiMSELoss, out, self, target, reduction_of(reduction)); }
MEANING(MseLossBackward) {
  RUN(diopiMSELossBackward, out, gradOutput, self, target, reduction_of(reduction));
}
MEANING(SmoothL1Loss) {
  RUN(diopiSmoothL1Loss, result, self, target, reduction_of(reduction), beta);
}
MEANING(SmoothL1LossBackward) {
  RUN(diopiSmoothL1LossBackward, gradInput, gradOut, self, target, reduction_of(reduction), beta);
}
MEANING(BinaryCrossEntropy) {
  RUN(diopiBCELoss, out, self, target, weight, reduction_of(reduction));
}
MEANING(BinaryCrossEntropyBackward) {
  RUN(diopiBCELossBackward, out, gradOutput, self, target, weightOptional, reduction_of(reduction));
}
MEANING(BinaryCrossEntropyWithLogits) {
  RUN(diopiBCEWithLogits, out, self, target, weightOptional, posWeightOptional,
      reduction_of(reduction));
}
MEANING(BinaryCrossEntropyWithLogitsBackward) {
  RUN(diopiBCEWithLogitsBackward, out, gradOutput, self, target, weightOptional, posWeightOptional,
      reduction_of(reduction));
}
namespace {

// One class per row of a matrix.
void demand_classes(const Tensor& self, const Tensor& target) {
  demand(self.rank() != 2 || target.sizes() == Sizes{self.size(0)},
         "target does not have one class per row of self");
}

}  // namespace

MEANING(NLLLoss) {
  demand_classes(self, target);
  RUN(diopiNLLLossV2, out, totalWeightOut, self, target.to(diopi_dtype_int64), weight,
      reduction_of(reduction), ignoreIndex);
}
MEANING(NLLLossBackward) {
  demand_classes(self, target);
  demand(reduction != 0 || gradOutput.sizes() == target.sizes(),
         "gradOutput does not have the shape of target");
  RUN(diopiNLLLossV2Backward, out, gradOutput, self, target.to(diopi_dtype_int64), weight,
      totalWeight, reduction_of(reduction), ignoreIndex);
}
MEANING(CtcLoss) {
  RUN(diopiCTCLoss, empty_like(negLogLikelihoodOut), negLogLikelihoodOut, logAlphaOut, logProbs,
      targets, lengths_of(inputLengths), lengths_of(targetlengths), blank, ReductionNone,
      zeroInfinity);
}
MEANING(CtcLossBackward) {
  RUN(diopiCTCLossBackward, out, gradOut, logProbs, targets, lengths_of(inputLengths),
      lengths_of(targetLengths), negLogLikelihood, logAlpha, blank, ReductionNone, zeroInfinity);
}
