#include <cstddef>
#include <iterator>

#include "dl/operator.hpp"
#include "ops/ops.h"
#include "slots.h"

namespace dl::async_test {
namespace {

// The faults stand last, so that the list without them is the beginning of the list with them.
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
    DL_OPERATOR(dl::async_test, diopiMaskedSelect),
    DL_OPERATOR(dl::async_test, diopiNonzero),
    DL_OPERATOR(dl::async_test, diopiErfinv),
    DL_OPERATOR(dl::async_test, diopiErfinvInp),
    DL_OPERATOR(dl::async_test, diopiPolar),
};

dl_status_t* operators(dl_vendor_t* vendor, const dl_operator_t** list, uint64_t* count) {
  *list = kOperators;
  *count = std::size(kOperators) - (Instance::of(vendor).options().faults ? 0 : kFaults);
  return nullptr;
}

const char* last_error(dl_vendor_t*) {
  const char* message = dl::last_error();
  return *message == '\0' ? nullptr : message;
}

}  // namespace

void set_operator_slots(dl_vendor_table_t& table) {
  table.operators = operators;
  table.last_error = last_error;
}

}  // namespace dl::async_test
