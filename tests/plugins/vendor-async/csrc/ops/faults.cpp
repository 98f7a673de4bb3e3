// Operators that fail, each in one way that a host must survive. Listed only with
// DL_ASYNC_TEST_FAULTS=1, under names that no model calls.
#include <stdexcept>

#include "dl/operator.hpp"
#include "ops/launch.h"
#include "ops/ops.h"

namespace dl::async_test {

diopiError_t diopiErfinv(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  set_last_error("[diopiErfinv] refuses, as DL_ASYNC_TEST_FAULTS asks");
  return diopiErrorOccurred;
}

diopiError_t diopiErfinvInp(diopiContextHandle_t ctx, diopiTensorHandle_t) {
  Launch(ctx, "diopiErfinvInp").enqueue([] {
    throw std::runtime_error("fails on the device, as DL_ASYNC_TEST_FAULTS asks");
  });
  return diopiSuccess;
}

diopiError_t diopiPolar(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                        diopiConstTensorHandle_t) {
  throw std::runtime_error("throws, as DL_ASYNC_TEST_FAULTS asks");
}

}  // namespace dl::async_test
