// A vendor whose operators decline calls in every way that the contract permits. It uses host
// memory and computes nothing: calls that succeed leave their outputs as they are.
#include <cstdlib>
#include <cstring>
#include <string>

#include "dl/handles.h"
#include "dl/operator.hpp"
#include "dl/vendor.h"

namespace declining {
namespace {

diopiError_t decline(diopiError_t code, const std::string& words) {
  dl::set_last_error(words.c_str());
  return code;
}

diopiError_t diopiMul(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                      diopiConstTensorHandle_t) {
  return diopiSuccess;
}
diopiError_t diopiMulScalar(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                            const diopiScalar_t*) {
  return decline(diopiDtypeNotSupported, "[diopiMulScalar] int64 scalar is not supported");
}
// Without diopiAddScalar.
diopiError_t diopiAdd(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                      diopiConstTensorHandle_t, const diopiScalar_t*) {
  return diopiSuccess;
}
// Without diopiGt.
diopiError_t diopiGtScalar(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                           const diopiScalar_t*) {
  return diopiSuccess;
}
diopiError_t diopiAbs(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t input) {
  return decline(diopiNoImplement,
                 std::to_string(diopirt_tensor(input)->numel) + " elements\nare \x1b[31mtoo many");
}
diopiError_t diopiSqrt(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return diopi5DNotSupported;
}
diopiError_t diopiExp(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return diopiSuccess;
}
diopiError_t dlopHardsigmoid(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t) {
  return decline(diopiNoImplement, "not today");
}

dl_operator_t of_another_contract(dl_operator_t one) {
  one.fingerprint += 1;
  return one;
}

const dl_operator_t kOperators[] = {
    DL_OPERATOR(declining, diopiMul),        DL_OPERATOR(declining, diopiMulScalar),
    DL_OPERATOR(declining, diopiAdd),        DL_OPERATOR(declining, diopiGtScalar),
    DL_OPERATOR(declining, diopiAbs),        DL_OPERATOR(declining, diopiSqrt),
    DL_OPERATOR(declining, dlopHardsigmoid), of_another_contract(DL_OPERATOR(declining, diopiExp)),
};

dl_vendor_table_t make_table() {
  dl_vendor_table_t table{};
  table.struct_size = sizeof(table);
  table.name = "stub";
  table.version = "1";
  table.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_ANY_HOST_POINTER | DL_CAP_SYNCHRONOUS;
  table.destroy = [](dl_vendor_t*) {};
  table.device_count = [](dl_vendor_t*, int32_t* count) -> dl_status_t* {
    *count = 1;
    return nullptr;
  };
  table.memory_allocate = [](dl_vendor_t*, int32_t, uint64_t bytes, void** memory) -> dl_status_t* {
    *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    return nullptr;
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
}  // namespace declining

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static const dl_vendor_table_t table = declining::make_table();
  static dl_vendor_t instance = {&table};
  *out = &instance;
  return nullptr;
}
