// A vendor whose operators fail in every way that the contract defines. It uses host memory and
// computes nothing: successful calls use the host's fallback.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "dl/context.h"
#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

namespace failing {
namespace {

dl_status_t fault = {sizeof(dl_status_t), DL_ERROR, 0, "the fan stands still", "fan_status",
                     [](dl_status_t*) {}, nullptr};
dl_status_t no_memory = {sizeof(dl_status_t), DL_OUT_OF_MEMORY, 0, "nothing is left", "malloc",
                         [](dl_status_t*) {}, nullptr};
bool fault_pending = false;

dl_status_t* report_pending_fault() {
  if (!fault_pending) return nullptr;
  fault_pending = false;
  return &fault;
}

diopiError_t diopiNeg(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  dl::set_last_error("the sign unit is on strike");
  return diopiErrorOccurred;
}
diopiError_t diopiExp(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw std::runtime_error("the exponent ran away");
}
diopiError_t diopiAbs(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return diopiNoImplement;
}
diopiError_t diopiSqrt(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return diopiDtypeNotSupported;
}
// Succeeds; the device fails later.
diopiError_t diopiSigmoid(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  fault_pending = true;
  return diopiSuccess;
}
// Succeeds; the error found in its data is then in the stream's error word.
diopiError_t diopiSin(diopiContextHandle_t ctx, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  dl_device_error_t* word = dl_context_device_error(ctx);
  if (word == nullptr) return diopiErrorOccurred;
  if (word->state != DL_DEVICE_ERROR_NONE) return diopiSuccess;
  word->kind = DL_DEVICE_ERROR_NUMBER;
  word->number = 1e-7;
  word->low = -3;
  std::strcpy(word->operator_name, "diopiSin");
  std::memset(word->text, '.', sizeof word->text);  // not terminated
  const char text[] = "a wave of {number} at {low}\n{lower}%s{";
  std::memcpy(word->text, text, sizeof text - 1);
  word->state = DL_DEVICE_ERROR_RAISED;
  return diopiSuccess;
}
// Succeeds, with host memory that its work may still use: there are no events to signal its end.
diopiError_t diopiCos(diopiContextHandle_t ctx, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  diopiTensorHandle_t buffer = nullptr;
  const auto* prefix = reinterpret_cast<const dl_context_prefix_t*>(ctx);
  return prefix->ops->require_buffer(ctx, &buffer, 64, diopi_host);
}
diopiError_t diopiTanh(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  throw 1;
}
diopiError_t diopiRsqrt(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return diopiErrorOccurred;
}

const dl_operator_t kOperators[] = {
    DL_OPERATOR(failing, diopiNeg),     DL_OPERATOR(failing, diopiExp),
    DL_OPERATOR(failing, diopiAbs),     DL_OPERATOR(failing, diopiSqrt),
    DL_OPERATOR(failing, diopiSigmoid), DL_OPERATOR(failing, diopiTanh),
    DL_OPERATOR(failing, diopiRsqrt),   DL_OPERATOR(failing, diopiSin),
    DL_OPERATOR(failing, diopiCos),
};

dl_vendor_table_t make_table() {
  dl_vendor_table_t table{};
  table.struct_size = sizeof(table);
  table.name = "failing";
  table.version = "1";
  table.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_ANY_HOST_POINTER;
  table.destroy = [](dl_vendor_t*) {};
  table.device_count = [](dl_vendor_t*, int32_t* count) -> dl_status_t* {
    *count = 1;
    return nullptr;
  };
  table.device_synchronize = [](dl_vendor_t*, int32_t) { return report_pending_fault(); };
  table.stream_synchronize = [](dl_vendor_t*, int32_t, void*) { return report_pending_fault(); };
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
}  // namespace failing

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static const dl_vendor_table_t table = failing::make_table();
  static dl_vendor_t instance = {&table};
  *out = &instance;
  return nullptr;
}
