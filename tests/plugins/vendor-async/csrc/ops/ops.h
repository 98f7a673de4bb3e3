#ifndef DL_ASYNC_TEST_OPS_OPS_H_
#define DL_ASYNC_TEST_OPS_OPS_H_

#include "diopi/functions.h"

namespace dl::async_test {

// Each has the type that the contract declares for its name.
decltype(::diopiAdd) diopiAdd;
decltype(::diopiAddInp) diopiAddInp;
decltype(::diopiAddScalar) diopiAddScalar;
decltype(::diopiAddInpScalar) diopiAddInpScalar;
decltype(::diopiSub) diopiSub;
decltype(::diopiSubInp) diopiSubInp;
decltype(::diopiSubScalar) diopiSubScalar;
decltype(::diopiSubInpScalar) diopiSubInpScalar;
decltype(::diopiMul) diopiMul;
decltype(::diopiMulInp) diopiMulInp;
decltype(::diopiMulScalar) diopiMulScalar;
decltype(::diopiMulInpScalar) diopiMulInpScalar;
decltype(::diopiDiv) diopiDiv;
decltype(::diopiDivInp) diopiDivInp;
decltype(::diopiDivScalar) diopiDivScalar;
decltype(::diopiDivInpScalar) diopiDivInpScalar;

decltype(::diopiNeg) diopiNeg;
decltype(::diopiExp) diopiExp;
decltype(::diopiRelu) diopiRelu;
decltype(::diopiSigmoid) diopiSigmoid;
decltype(::diopiTanh) diopiTanh;
decltype(::diopiThresholdBackward) diopiThresholdBackward;

decltype(::diopiEq) diopiEq;
decltype(::diopiEqScalar) diopiEqScalar;
decltype(::diopiGt) diopiGt;
decltype(::diopiGtScalar) diopiGtScalar;

decltype(::diopiFill) diopiFill;
decltype(::diopiCopyInp) diopiCopyInp;
decltype(::diopiCastDtype) diopiCastDtype;

decltype(::diopiSum) diopiSum;
decltype(::diopiSoftmax) diopiSoftmax;
decltype(::diopiMm) diopiMm;

decltype(::diopiIndexSelect) diopiIndexSelect;
decltype(::diopiMaskedSelect) diopiMaskedSelect;
decltype(::diopiNonzero) diopiNonzero;

// Faults; see ops/faults.cpp.
decltype(::diopiErfinv) diopiErfinv;
decltype(::diopiErfinvInp) diopiErfinvInp;
decltype(::diopiPolar) diopiPolar;

}  // namespace dl::async_test

#endif
