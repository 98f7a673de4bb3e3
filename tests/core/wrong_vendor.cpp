// A vendor some of whose operators are wrong, each in its own way. It uses host memory.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

namespace wrong {
namespace {

struct View {
  const float* source;
  float* target;
  int64_t count;
};

// All tests pass contiguous float32 tensors; the host computes everything else.
bool open(diopiTensorHandle_t out, diopiConstTensorHandle_t input, View& view) {
  diopiDtype_t dtype;
  if (diopiGetTensorDtype(input, &dtype) != diopiSuccess || dtype != diopi_dtype_float32)
    return false;
  const void* source = nullptr;
  void* target = nullptr;
  diopiGetTensorDataConst(input, &source);
  diopiGetTensorData(out, &target);
  diopiGetTensorNumel(input, &view.count);
  view.source = static_cast<const float*>(source);
  view.target = static_cast<float*>(target);
  return true;
}

template <typename F>
diopiError_t map(diopiTensorHandle_t out, diopiConstTensorHandle_t input, F function) {
  View view;
  if (!open(out, input, view)) return diopiDtypeNotSupported;
  for (int64_t i = 0; i < view.count; ++i) view.target[i] = function(view.source[i], i);
  return diopiSuccess;
}

// Correct.
diopiError_t diopiNeg(diopiContextHandle_t, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return map(out, input, [](float x, int64_t) { return -x; });
}
diopiError_t diopiExp(diopiContextHandle_t, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return map(out, input, [](float x, int64_t) { return std::nextafter(std::exp(x), 0.0f); });
}
// One element is off by a thousandth.
diopiError_t diopiSqrt(diopiContextHandle_t, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  return map(out, input,
             [](float x, int64_t i) { return std::sqrt(x) * (i == 2 ? 1.001f : 1.0f); });
}
diopiError_t diopiSqrtInp(diopiContextHandle_t, diopiTensorHandle_t input) {
  return map(input, input,
             [](float x, int64_t i) { return std::sqrt(x) * (i == 2 ? 1.001f : 1.0f); });
}
// Correct, but writes to its input.
diopiError_t diopiSin(diopiContextHandle_t, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  const diopiError_t done = map(out, input, [](float x, int64_t) { return std::sin(x); });
  View view;
  if (done == diopiSuccess && open(out, input, view)) const_cast<float*>(view.source)[0] += 1;
  return done;
}
// A wrong gradient.
diopiError_t diopiTanh(diopiContextHandle_t, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  return map(out, input, [](float x, int64_t) { return std::tanh(x); });
}
diopiError_t diopiTanhBackward(diopiContextHandle_t, diopiTensorHandle_t out,
                               diopiConstTensorHandle_t gradient, diopiConstTensorHandle_t) {
  return map(out, gradient, [](float x, int64_t) { return x; });
}

const dl_operator_t kOperators[] = {
    DL_OPERATOR(wrong, diopiNeg),          DL_OPERATOR(wrong, diopiExp),
    DL_OPERATOR(wrong, diopiSqrt),         DL_OPERATOR(wrong, diopiSqrtInp),
    DL_OPERATOR(wrong, diopiSin),          DL_OPERATOR(wrong, diopiTanh),
    DL_OPERATOR(wrong, diopiTanhBackward),
};

dl_status_t no_memory = {sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "nothing is left", "malloc",
                         [](dl_status_t*) {}, nullptr};

dl_vendor_table_t make_table() {
  dl_vendor_table_t table{};
  table.struct_size = sizeof(table);
  table.name = "wrong";
  table.version = "1";
  table.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_ANY_HOST_POINTER | DL_CAP_SYNCHRONOUS;
  table.destroy = [](dl_vendor_t*) {};
  table.device_count = [](dl_vendor_t*, int32_t* count) -> dl_status_t* {
    *count = 1;
    return nullptr;
  };
  table.memory_allocate = [](dl_vendor_t*, int32_t, uint64_t bytes, void** memory) {
    return posix_memalign(memory, 64, bytes) == 0 ? nullptr : &no_memory;
  };
  table.memory_free = [](dl_vendor_t*, int32_t, void* memory) -> dl_status_t* {
    std::free(memory);
    return nullptr;
  };
  table.memory_copy = [](dl_vendor_t*, int32_t, void* destination, const void* source,
                         uint64_t bytes, int32_t, void*) -> dl_status_t* {
    std::memcpy(destination, source, bytes);
    return nullptr;
  };
  table.operators = [](dl_vendor_t*, const dl_operator_t** operators,
                       uint64_t* count) -> dl_status_t* {
    *operators = kOperators;
    *count = sizeof(kOperators) / sizeof(*kOperators);
    return nullptr;
  };
  table.last_error = [](dl_vendor_t*) { return dl::last_error(); };
  return table;
}

}  // namespace
}  // namespace wrong

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static const dl_vendor_table_t table = wrong::make_table();
  static dl_vendor_t instance = {&table};
  *out = &instance;
  return nullptr;
}
