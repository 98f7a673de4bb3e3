// Functions that compute each element from the elements at its place.
#include "arguments.gen.h"

using namespace fake_aclnn;

// Arithmetic with two operands: alpha scales the second one.
MEANING(Add) { RUN(diopiAdd, out, self, other, alpha); }
MEANING(Adds) { RUN(diopiAddScalar, out, self, other, alpha); }
MEANING(InplaceAdd) { RUN(diopiAddInp, selfRef, other, alpha); }
MEANING(InplaceAdds) { RUN(diopiAddInpScalar, selfRef, other, alpha); }
MEANING(Sub) { RUN(diopiSub, out, self, other, alpha); }
MEANING(Subs) { RUN(diopiSubScalar, out, self, other, alpha); }
MEANING(InplaceSub) { RUN(diopiSubInp, selfRef, other, alpha); }
MEANING(InplaceSubs) { RUN(diopiSubInpScalar, selfRef, other, alpha); }
MEANING(Mul) { RUN(diopiMul, out, self, other); }
MEANING(Muls) { RUN(diopiMulScalar, out, self, other); }
MEANING(InplaceMul) { RUN(diopiMulInp, selfRef, other); }
MEANING(InplaceMuls) { RUN(diopiMulInpScalar, selfRef, other); }
MEANING(Div) { RUN(diopiDiv, out, self, other, RoundModeNone); }
MEANING(Divs) { RUN(diopiDivScalar, out, self, other, RoundModeNone); }
MEANING(InplaceDiv) { RUN(diopiDivInp, selfRef, other, RoundModeNone); }
MEANING(InplaceDivs) { RUN(diopiDivInpScalar, selfRef, other, RoundModeNone); }
// The remainder has the sign of the divisor.
MEANING(RemainderTensorTensor) { RUN(diopiRemainderTensor, out, self, other); }
MEANING(RemainderTensorScalar) { RUN(diopiRemainderScalar, out, self, other); }
MEANING(RemainderScalarTensor) { RUN(diopiRemainder, out, self, other); }
MEANING(PowTensorTensor) { RUN(diopiPowTensor, out, self, exponent); }
MEANING(PowTensorScalar) { RUN(diopiPow, out, self, exponent); }
MEANING(PowScalarTensor) { RUN(diopiPowScalar, out, self, exponent); }
MEANING(InplacePowTensorTensor) { RUN(diopiPowInpTensor, self, exponent); }
MEANING(InplacePowTensorScalar) { RUN(diopiPowInp, self, exponent); }
MEANING(Maximum) { RUN(diopiMaximum, out, self, other); }
MEANING(Minimum) { RUN(diopiMinimum, out, self, other); }
// The angle of the point with y = self and x = other.
MEANING(Atan2) { RUN(dlopAtan2, out, self, other); }
// self + value * tensor1 * tensor2, and self + value * tensor1 / tensor2.
MEANING(Addcmul) { RUN(diopiAddcmul, out, self, tensor1, tensor2, value); }
MEANING(InplaceAddcmul) { RUN(diopiAddcmulInp, selfRef, tensor1, tensor2, value); }
MEANING(Addcdiv) { RUN(diopiAddcdiv, out, self, tensor1, tensor2, value); }
MEANING(InplaceAddcdiv) { RUN(diopiAddcdivInp, selfRef, tensor1, tensor2, value); }
// self + weight * (end - self)
MEANING(Lerp) { RUN(diopiLerpTensor, out, self, end, weight); }
MEANING(Lerps) { RUN(diopiLerpScalar, out, self, end, weight); }
MEANING(InplaceLerps) { RUN(diopiLerpScalar, selfRef, selfRef, end, weight); }

// Comparisons: self OP other.
MEANING(EqTensor) { RUN(diopiEq, out, self, other); }
MEANING(EqScalar) { RUN(diopiEqScalar, out, self, other); }
MEANING(InplaceEqTensor) { RUN(diopiEqInp, selfRef, other); }
MEANING(InplaceEqScalar) { RUN(diopiEqInpScalar, selfRef, other); }
MEANING(NeTensor) { RUN(diopiNe, out, self, other); }
MEANING(NeScalar) { RUN(diopiNeScalar, out, self, other); }
MEANING(InplaceNeTensor) { RUN(diopiNeInp, selfRef, other); }
MEANING(InplaceNeScalar) { RUN(diopiNeInpScalar, selfRef, other); }
MEANING(GtTensor) { RUN(diopiGt, out, self, other); }
MEANING(GtScalar) { RUN(diopiGtScalar, out, self, other); }
MEANING(InplaceGtTensor) { RUN(diopiGtInp, selfRef, other); }
MEANING(InplaceGtScalar) { RUN(diopiGtInpScalar, selfRef, other); }
MEANING(GeTensor) { RUN(diopiGe, out, self, other); }
MEANING(GeScalar) { RUN(diopiGeScalar, out, self, other); }
MEANING(InplaceGeTensor) { RUN(diopiGeInp, selfRef, other); }
MEANING(InplaceGeScalar) { RUN(diopiGeInpScalar, selfRef, other); }
MEANING(LtTensor) { RUN(diopiLt, out, self, other); }
MEANING(LtScalar) { RUN(diopiLtScalar, out, self, other); }
MEANING(InplaceLtTensor) { RUN(diopiLtInp, selfRef, other); }
MEANING(InplaceLtScalar) { RUN(diopiLtInpScalar, selfRef, other); }
MEANING(LeTensor) { RUN(diopiLe, out, self, other); }
MEANING(LeScalar) { RUN(diopiLeScalar, out, self, other); }
MEANING(InplaceLeTensor) { RUN(diopiLeInp, selfRef, other); }
MEANING(InplaceLeScalar) { RUN(diopiLeInpScalar, selfRef, other); }

MEANING(LogicalAnd) { RUN(diopiLogicalAnd, out, self, other); }
MEANING(LogicalOr) { RUN(diopiLogicalOr, out, self, other); }
MEANING(LogicalNot) { RUN(diopiLogicalNot, out, self); }
MEANING(InplaceLogicalAnd) { RUN(diopiLogicalAndInp, selfRef, other); }
MEANING(InplaceLogicalOr) { RUN(diopiLogicalOrInp, selfRef, other); }
MEANING(InplaceLogicalNot) { RUN(diopiLogicalNotInp, selfRef); }
MEANING(BitwiseAndTensor) { RUN(diopiBitwiseAnd, out, self, other); }
MEANING(BitwiseAndScalar) { RUN(diopiBitwiseAndScalar, out, self, other); }
MEANING(InplaceBitwiseAndTensor) { RUN(diopiBitwiseAndInp, selfRef, other); }
MEANING(InplaceBitwiseAndScalar) { RUN(diopiBitwiseAndInpScalar, selfRef, other); }
MEANING(BitwiseOrTensor) { RUN(diopiBitwiseOr, out, self, other); }
MEANING(BitwiseOrScalar) { RUN(diopiBitwiseOrScalar, out, self, other); }
MEANING(InplaceBitwiseOrTensor) { RUN(diopiBitwiseOrInp, selfRef, other); }
MEANING(InplaceBitwiseOrScalar) { RUN(diopiBitwiseOrInpScalar, selfRef, other); }
MEANING(BitwiseNot) { RUN(diopiBitwiseNot, out, self); }

MEANING(Clamp) { RUN(diopiClampScalar, out, self, clipValueMin, clipValueMax); }
MEANING(ClampMin) { RUN(diopiClampMinScalar, out, self, clipValueMin); }
MEANING(ClampMax) { RUN(diopiClampMaxScalar, out, self, clipValueMax); }
MEANING(ClampTensor) { RUN(diopiClamp, out, self, clipValueMin, clipValueMax); }
MEANING(ClampMinTensor) { RUN(diopiClampMin, out, self, clipValueMin); }
MEANING(ClampMaxTensor) { RUN(diopiClampMax, out, self, max); }
MEANING(InplaceClampMax) { RUN(diopiClampMaxInpScalar, selfRef, clipValueMax); }
MEANING(InplaceClampMaxTensor) { RUN(diopiClampMaxInp, selfRef, max); }
MEANING(InplaceClampMinTensor) { RUN(diopiClampMinInp, selfRef, clipValueMin); }

// Elements of self where the condition holds, else of other.
MEANING(SWhere) { RUN(diopiWhere, out, condition, self, other); }
MEANING(InplaceMaskedFillScalar) { RUN(diopiMaskedFillInpScalar, selfRef, mask, value); }
MEANING(InplaceMaskedFillTensor) { RUN(diopiMaskedFillInp, selfRef, mask, value); }
MEANING(InplaceFillScalar) { RUN(diopiFill, selfRef, value); }
MEANING(InplaceOne) { RUN(diopiFill, selfRef, Scalar::of(1)); }
MEANING(InplaceZero) { RUN(diopiFill, selfRef, Scalar::of(0)); }
MEANING(InplaceCopy) { assign(selfRef, src); }
MEANING(Cast) {
  demand(dtype == out.dtype(), "dtype is not that of out");
  demand(self.sizes() == out.sizes(), "self and out have different shapes");
  assign(out, self);
}
MEANING(Complex) { RUN(diopiComplex, out, real, imag); }
MEANING(Polar) { RUN(diopiPolar, out, input, angle); }
MEANING(Real) { RUN(diopiReal, out, self); }

MEANING(Abs) { RUN(diopiAbs, out, self); }
MEANING(Neg) { RUN(diopiNeg, out, self); }
// For complex numbers the number divided by its absolute value.
MEANING(Sign) {
  const bool is_complex =
      self.dtype() == diopi_dtype_complex64 || self.dtype() == diopi_dtype_complex128;
  if (is_complex)
    RUN(diopiSgn, result, self);
  else
    RUN(diopiSign, result, self);
}
MEANING(Ceil) { RUN(diopiCeil, out, self); }
MEANING(Floor) { RUN(diopiFloor, out, self); }
MEANING(Round) { RUN(dlopRound, out, self); }
MEANING(Exp) { RUN(diopiExp, out, self); }
MEANING(Expm1) { RUN(diopiExpm1, out, self); }
MEANING(Log) { RUN(diopiLog, out, self); }
MEANING(Log2) { RUN(diopiLog2, out, self); }
MEANING(Log10) { RUN(diopiLog10, out, self); }
MEANING(Log1p) { RUN(diopiLog1p, out, self); }
MEANING(Sqrt) { RUN(diopiSqrt, out, self); }
MEANING(Rsqrt) { RUN(diopiRsqrt, out, self); }
MEANING(Reciprocal) { RUN(diopiReciprocal, out, self); }
MEANING(Sin) { RUN(diopiSin, out, self); }
MEANING(Cos) { RUN(diopiCos, out, input); }
MEANING(Tan) { RUN(diopiTan, out, self); }
MEANING(Asin) { RUN(diopiAsin, out, self); }
MEANING(Acos) { RUN(diopiAcos, out, input); }
MEANING(Atan) { RUN(diopiAtan, out, input); }
MEANING(Sinh) { RUN(diopiSinh, out, self); }
MEANING(Cosh) { RUN(diopiCosh, out, self); }
MEANING(Tanh) { RUN(diopiTanh, out, self); }
MEANING(Asinh) { RUN(diopiAsinh, out, input); }
MEANING(Acosh) { RUN(diopiAcosh, out, self); }
MEANING(Atanh) { RUN(diopiAtanh, out, input); }
MEANING(Erf) { RUN(diopiErf, out, self); }
MEANING(Erfinv) { RUN(diopiErfinv, out, self); }
MEANING(Lgamma) { RUN(dlopLgamma, out, self); }
MEANING(Digamma) { RUN(dlopDigamma, out, self); }

MEANING(InplaceNeg) { RUN(diopiNegInp, selfRef); }
MEANING(InplaceCeil) { RUN(diopiCeilInp, selfRef); }
MEANING(InplaceFloor) { RUN(diopiFloorInp, selfRef); }
MEANING(InplaceExp) { RUN(diopiExpInp, selfRef); }
MEANING(InplaceExpm1) { RUN(diopiExpm1Inp, selfRef); }
MEANING(InplaceLog) { RUN(diopiLogInp, selfRef); }
MEANING(InplaceLog2) { RUN(diopiLog2Inp, selfRef); }
MEANING(InplaceLog10) { RUN(diopiLog10Inp, selfRef); }
MEANING(InplaceLog1p) { RUN(diopiLog1pInp, selfRef); }
MEANING(InplaceSqrt) { RUN(diopiSqrtInp, self); }
MEANING(InplaceRsqrt) { RUN(diopiRsqrtInp, selfRef); }
MEANING(InplaceReciprocal) { RUN(diopiReciprocalInp, selfRef); }
MEANING(InplaceSin) { RUN(diopiSinInp, selfRef); }
MEANING(InplaceCos) { RUN(diopiCosInp, inputRef); }
MEANING(InplaceTan) { RUN(diopiTanInp, selfRef); }
MEANING(InplaceAsin) { RUN(diopiAsinInp, selfRef); }
MEANING(InplaceAcos) { RUN(diopiAcosInp, inputRef); }
MEANING(InplaceAtan) { RUN(diopiAtanInp, inputRef); }
MEANING(InplaceSinh) { RUN(diopiSinhInp, selfRef); }
MEANING(InplaceCosh) { RUN(diopiCoshInp, selfRef); }
MEANING(InplaceTanh) { RUN(diopiTanhInp, selfRef); }
MEANING(InplaceAsinh) { RUN(diopiAsinhInp, inputRef); }
MEANING(InplaceAcosh) { RUN(diopiAcoshInp, selfRef); }
MEANING(InplaceAtanh) { RUN(diopiAtanhInp, inputRef); }
MEANING(InplaceErf) { RUN(diopiErfInp, selfRef); }
MEANING(InplaceErfinv) { RUN(diopiErfinvInp, selfRef); }
MEANING(InplaceSigmoid) { RUN(diopiSigmoidInp, selfRef); }
