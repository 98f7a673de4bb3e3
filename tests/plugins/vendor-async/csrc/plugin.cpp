#include <cstddef>
#include <iterator>

#include "dl/operator.hpp"
#include "instance.h"
#include "ops/ops.h"

namespace dl::async_test {
namespace {

// The faults are last, so that the list without them is a prefix of the list with them.
constexpr size_t kFaults = 3;

const dl_operator_t kOperators[] = {
    DL_OPERATOR(dl::async_test, diopiAdd),
    DL_OPERATOR(dl::async_test, diopiAddInp),
    DL_OPERATOR(dl::async_test, diopiAddScalar),
    DL_OPERATOR(dl::async_test, diopiAddInpScalar),
    DL_OPERATOR(dl::async_test, diopiSub),
    DL_OPERATOR(dl::async_test, diopiSubInp),
    DL_OPERATOR(dl::async_test, diopiSubScalar),
    DL_OPERATOR(dl::async_test, diopiSubInpScalar),
    DL_OPERATOR(dl::async_test, diopiMul),
    DL_OPERATOR(dl::async_test, diopiMulInp),
    DL_OPERATOR(dl::async_test, diopiMulScalar),
    DL_OPERATOR(dl::async_test, diopiMulInpScalar),
    DL_OPERATOR(dl::async_test, diopiDiv),
    DL_OPERATOR(dl::async_test, diopiDivInp),
    DL_OPERATOR(dl::async_test, diopiDivScalar),
    DL_OPERATOR(dl::async_test, diopiDivInpScalar),
    DL_OPERATOR(dl::async_test, diopiNeg),
    DL_OPERATOR(dl::async_test, diopiExp),
    DL_OPERATOR(dl::async_test, diopiRelu),
    DL_OPERATOR(dl::async_test, diopiSigmoid),
    DL_OPERATOR(dl::async_test, diopiTanh),
    DL_OPERATOR(dl::async_test, diopiThresholdBackward),
    DL_OPERATOR(dl::async_test, diopiEq),
    DL_OPERATOR(dl::async_test, diopiEqScalar),
    DL_OPERATOR(dl::async_test, diopiGt),
    DL_OPERATOR(dl::async_test, diopiGtScalar),
    DL_OPERATOR(dl::async_test, diopiFill),
    DL_OPERATOR(dl::async_test, diopiCopyInp),
    DL_OPERATOR(dl::async_test, diopiCastDtype),
    DL_OPERATOR(dl::async_test, diopiSum),
    DL_OPERATOR(dl::async_test, diopiSoftmax),
    DL_OPERATOR(dl::async_test, diopiMm),
    DL_OPERATOR(dl::async_test, diopiIndexSelect),
    DL_OPERATOR(dl::async_test, diopiMaskedSelect),
    DL_OPERATOR(dl::async_test, diopiNonzero),
    DL_OPERATOR(dl::async_test, diopiErfinv),
    DL_OPERATOR(dl::async_test, diopiErfinvInp),
    DL_OPERATOR(dl::async_test, diopiPolar),
};

}  // namespace

kit::Operators Instance::operators() {
  return {kOperators, std::size(kOperators) - (options_.faults ? 0 : kFaults)};
}

}  // namespace dl::async_test

DL_KIT_VENDOR(dl::async_test::Instance)
