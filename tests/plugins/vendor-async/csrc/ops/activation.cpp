#include <cmath>

#include "ops/elementwise.h"
#include "ops/ops.h"
#include "ops/scalar.h"

namespace dl::async_test {

diopiError_t diopiExp(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return map_floating(ctx, "diopiExp", out, input, [](auto x) { return std::exp(x); });
}

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  // NaN propagates.
  return map(ctx, "diopiRelu", out, input, [](auto x) { return x <= 0 ? decltype(x){0} : x; });
}

diopiError_t diopiSigmoid(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                          diopiConstTensorHandle_t input) {
  return map_floating(ctx, "diopiSigmoid", out, input,
                      [](auto x) { return 1 / (1 + std::exp(-x)); });
}

diopiError_t diopiTanh(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  return map_floating(ctx, "diopiTanh", out, input, [](auto x) { return std::tanh(x); });
}

diopiError_t diopiThresholdBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                                    diopiConstTensorHandle_t grad_output,
                                    diopiConstTensorHandle_t input,
                                    const diopiScalar_t* threshold) {
  return combine(ctx, "diopiThresholdBackward", grad_input, grad_output, input,
                 [limit = Scalar(threshold)](auto gradient, auto x) {
                   return x <= limit.as<decltype(x)>() ? decltype(gradient){0} : gradient;
                 });
}

}  // namespace dl::async_test
