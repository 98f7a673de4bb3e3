// Tests of the shims of DL_OPERATOR. The exit status is the line of the failed check.
#include <cstring>
#include <stdexcept>
#include <string>

#include "dl/operator.hpp"

namespace sample {

// Each behavior is implemented by an operator with the signature (ctx, out, input) or (ctx, input).
static diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw std::runtime_error("dim 3 is out of range");
}
static diopiError_t diopiSin(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw 42;
}
static diopiError_t diopiCos(diopiContextHandle_t, diopiTensorHandle_t,
                             diopiConstTensorHandle_t) noexcept {
  dl::set_last_error("no cosine here");
  return diopiNoImplement;
}
static diopiError_t diopiAbs(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  diopiDeviceIndex_t index = -1;
  if (diopiGetCurrentDeviceIndex(&index) != diopiSuccess || index != 6) return diopiErrorOccurred;
  return diopiSuccess;
}
static diopiError_t diopiSum(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                             diopiSize_t dim) {
  return dim.len == 2 && dim.data[1] == 9 ? diopiSuccess : diopiErrorOccurred;
}
static diopiError_t diopiExp(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw std::runtime_error(std::string(5000, 'x'));
}

static const dl_operator_t kOperators[] = {
    DL_OPERATOR(sample, diopiRelu), DL_OPERATOR(sample, diopiSin), DL_OPERATOR(sample, diopiCos),
    DL_OPERATOR(sample, diopiAbs),  DL_OPERATOR(sample, diopiSum), DL_OPERATOR(sample, diopiExp),
};

}  // namespace sample

DL_DEFINE_CURRENT_CONTEXT;

#define CHECK(condition) \
  if (!(condition)) return __LINE__

int main() {
  using Unary = decltype(&::diopiRelu);
  const auto unary = [](int i) {
    return reinterpret_cast<Unary>(reinterpret_cast<void (*)()>(sample::kOperators[i].function));
  };
  CHECK(std::strcmp(sample::kOperators[0].name, "diopiRelu") == 0);
  CHECK(sample::kOperators[0].fingerprint == DIOPI_FINGERPRINT_diopiRelu);
  CHECK(sample::kOperators[0].reserved == 0);
  CHECK(unary(0)(nullptr, nullptr, nullptr) == diopiErrorOccurred);
  CHECK(std::strcmp(dl::last_error(), "[diopiRelu] dim 3 is out of range") == 0);
  CHECK(unary(1)(nullptr, nullptr, nullptr) == diopiErrorOccurred);
  CHECK(std::strstr(dl::last_error(), "[diopiSin]") != nullptr);
  CHECK(unary(2)(nullptr, nullptr, nullptr) == diopiNoImplement);
  CHECK(std::strcmp(dl::last_error(), "no cosine here") == 0);

  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.device_index = 6;
  const auto ctx = reinterpret_cast<diopiContextHandle_t>(&context);
  dl_context_prefix_t outer{};
  dl_current_context = reinterpret_cast<diopiContextHandle_t>(&outer);
  CHECK(unary(3)(ctx, nullptr, nullptr) == diopiSuccess);
  CHECK(dl_current_context == reinterpret_cast<diopiContextHandle_t>(&outer));
  CHECK(dl::last_error()[0] == '\0');
  CHECK(unary(0)(ctx, nullptr, nullptr) == diopiErrorOccurred);
  CHECK(dl_current_context == reinterpret_cast<diopiContextHandle_t>(&outer));

  const int64_t dims[] = {4, 9};
  const auto sum = reinterpret_cast<decltype(&::diopiSum)>(
      reinterpret_cast<void (*)()>(sample::kOperators[4].function));
  CHECK(sum(ctx, nullptr, nullptr, diopiSize_t{dims, 2}) == diopiSuccess);
  CHECK(unary(5)(ctx, nullptr, nullptr) == diopiErrorOccurred);
  CHECK(std::strlen(dl::last_error()) == 511);
  return 0;
}
