#include "graph/row_rules.h"

#include <string_view>
#include <unordered_map>

namespace dl::graph {
namespace {

// packages/dicp/tests/test_row_rules.py runs each of them in blocks and as a whole, and compares.
constexpr const char* kElementwise[] = {
    // activation functions and their gradients
    "diopiRelu", "diopiReluInp", "diopiHardtanh", "diopiHardtanhInp", "diopiHardtanhBackward",
    "diopiHardswish", "diopiHardswishInp", "diopiHardswishBackward", "diopiThreshold",
    "diopiThresholdInp", "diopiThresholdBackward", "diopiLeakyRelu", "diopiLeakyReluInp",
    "diopiLeakyReluBackward", "dlopHardsigmoid", "dlopHardsigmoidBackward", "dlopHardshrink",
    "dlopSoftshrink", "dlopShrinkBackward", "diopiGelu", "diopiGeluBackward", "diopiTanh",
    "diopiTanhInp", "diopiTanhBackward", "diopiSigmoid", "diopiSigmoidInp", "diopiSigmoidBackward",
    "diopiSilu", "diopiSiluInp", "diopiSiluBackward", "dlopElu", "dlopEluBackward", "dlopSoftplus",
    "dlopSoftplusBackward", "dlopMish", "dlopMishBackward", "dlopLogSigmoid",
    "dlopLogSigmoidBackward",
    // arithmetic
    "diopiAdd", "diopiAddInp", "diopiAddScalar", "diopiAddInpScalar", "diopiSub", "diopiSubInp",
    "diopiSubScalar", "diopiSubInpScalar", "diopiMul", "diopiMulInp", "diopiMulScalar",
    "diopiMulInpScalar", "diopiDiv", "diopiDivInp", "diopiDivScalar", "diopiDivInpScalar",
    "diopiRemainderTensor", "diopiRemainderScalar", "diopiRemainder", "diopiMaximum",
    "diopiMinimum", "diopiAddcmul", "diopiAddcmulInp", "diopiAddcdiv", "diopiAddcdivInp",
    "diopiLerpTensor", "diopiLerpScalar", "diopiPow", "diopiPowInp", "diopiPowScalar",
    "diopiPowTensor", "diopiPowInpTensor", "diopiSqrt", "diopiSqrtInp", "diopiRsqrt",
    "diopiRsqrtInp", "diopiReciprocal", "diopiReciprocalInp", "diopiClampScalar",
    "diopiClampInpScalar", "diopiClamp", "diopiClampInp", "diopiClampMaxScalar",
    "diopiClampMaxInpScalar", "diopiClampMax", "diopiClampMaxInp", "diopiClampMinScalar",
    "diopiClampMinInpScalar", "diopiClampMin", "diopiClampMinInp", "diopiFloor", "diopiFloorInp",
    "diopiCeil", "diopiCeilInp", "dlopRound", "diopiSign", "diopiSgn", "diopiSgnInp", "diopiAbs",
    "diopiAbsInp", "diopiNeg", "diopiNegInp",
    // elementary functions
    "diopiExp", "diopiExpInp", "diopiExpm1", "diopiExpm1Inp", "diopiLog", "diopiLogInp",
    "diopiLog2", "diopiLog2Inp", "diopiLog10", "diopiLog10Inp", "diopiLog1p", "diopiLog1pInp",
    "diopiSin", "diopiSinInp", "diopiCos", "diopiCosInp", "diopiTan", "diopiTanInp", "diopiAsin",
    "diopiAsinInp", "diopiAcos", "diopiAcosInp", "diopiAtan", "diopiAtanInp", "dlopAtan2",
    "diopiSinh", "diopiSinhInp", "diopiCosh", "diopiCoshInp", "diopiErf", "diopiErfInp",
    "diopiErfinv", "diopiErfinvInp",
    // comparison, logic, choice and copies
    "diopiEq", "diopiEqInp", "diopiEqScalar", "diopiEqInpScalar", "diopiNe", "diopiNeInp",
    "diopiNeScalar", "diopiNeInpScalar", "diopiGe", "diopiGeInp", "diopiGeScalar",
    "diopiGeInpScalar", "diopiGt", "diopiGtInp", "diopiGtScalar", "diopiGtInpScalar", "diopiLe",
    "diopiLeInp", "diopiLeScalar", "diopiLeInpScalar", "diopiLt", "diopiLtInp", "diopiLtScalar",
    "diopiLtInpScalar", "diopiIsNan", "diopiBitwiseAnd", "diopiBitwiseAndInp",
    "diopiBitwiseAndScalar", "diopiBitwiseAndInpScalar", "diopiBitwiseOr", "diopiBitwiseOrInp",
    "diopiBitwiseOrScalar", "diopiBitwiseOrInpScalar", "diopiBitwiseNot", "diopiBitwiseNotInp",
    "diopiLogicalAnd", "diopiLogicalAndInp", "diopiLogicalOr", "diopiLogicalOrInp",
    "diopiLogicalNot", "diopiLogicalNotInp", "diopiWhere", "diopiMaskedFill",
    "diopiMaskedFillInp", "diopiMaskedFillScalar", "diopiMaskedFillInpScalar", "diopiCopyInp",
    "diopiCastDtype", "diopiFill", "diopiZeroInp"};

struct Along {
  const char* name;
  RowRule rule;
};

constexpr Along kAlong[] = {
    {"diopiSoftmax", {Rows::kAlong, "dim"}},
    {"diopiSoftmaxBackward", {Rows::kAlong, "dim"}},
    {"diopiLogSoftmax", {Rows::kAlong, "dim"}},
    {"diopiLogSoftmaxBackward", {Rows::kAlong, "dim"}},
    {"diopiSum", {Rows::kAlong, "dim"}},
    {"diopiMean", {Rows::kAlong, "dim"}},
    {"diopiAmax", {Rows::kAlong, "dim"}},
    {"diopiProd", {Rows::kAlong, "dim"}},
    {"diopiStd", {Rows::kAlong, "dim"}},
    {"diopiNorm", {Rows::kAlong, "dim"}},
    {"diopiLinalgVecNorm", {Rows::kAlong, "dim"}},
    {"diopiCumsum", {Rows::kAlong, "dim"}},
    {"diopiCat", {Rows::kAlong, "dim"}},
    {"diopiLayerNorm", {Rows::kAlongShape, "normalized_shape", "|weight|bias|"}},
    {"diopiLayerNormBackward",
     {Rows::kAlongShape, "normalized_shape", "|weight|bias|", "|grad_weight|grad_bias|"}},
    {"diopiRMSNorm", {Rows::kAlongShape, "normalized_shape", "|weight|bias|"}},
};

std::unordered_map<std::string_view, RowRule> made() {
  std::unordered_map<std::string_view, RowRule> out;
  for (const char* const name : kElementwise) out.emplace(name, RowRule{Rows::kElementwise});
  for (const Along& each : kAlong) out.emplace(each.name, each.rule);
  return out;
}

}  // namespace

RowRule row_rule(const Operator& called) {
  static const std::unordered_map<std::string_view, RowRule> kAll = made();
  const auto found = kAll.find(called.name);
  return found == kAll.end() ? RowRule{} : found->second;
}

}  // namespace dl::graph
