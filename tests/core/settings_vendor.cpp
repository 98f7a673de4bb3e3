// A vendor whose diopiNeg writes the user's settings into its result: the precisions of matrix
// products and of convolutions, and whether deterministic algorithms are requested.
#include <cstdlib>
#include <cstring>

#include "dl/operator.hpp"

namespace {

namespace ops {

diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out, diopiConstTensorHandle_t) {
  void* data = nullptr;
  diopiGetTensorData(out, &data);
  auto* const values = static_cast<float*>(data);
  values[0] = static_cast<float>(dl_context_matmul_precision(ctx));
  values[1] = static_cast<float>(dl_context_convolution_precision(ctx));
  values[2] = dl_context_deterministic(ctx) ? 1 : 0;
  return diopiSuccess;
}

}  // namespace ops

const dl_operator_t kOperators[] = {DL_OPERATOR(ops, diopiNeg)};

}  // namespace

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static dl_vendor_table_t table{};
  table.struct_size = sizeof table;
  table.name = "stub";
  table.capabilities = DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;
  table.destroy = [](dl_vendor_t* vendor) { delete vendor; };
  table.device_count = [](dl_vendor_t*, int32_t* count) -> dl_status_t* {
    return *count = 1, nullptr;
  };
  table.memory_allocate = [](dl_vendor_t*, int32_t, uint64_t bytes, void** memory) -> dl_status_t* {
    *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    return nullptr;
  };
  table.memory_free = [](dl_vendor_t*, int32_t, void* memory) -> dl_status_t* {
    return std::free(memory), nullptr;
  };
  table.memory_copy = [](dl_vendor_t*, int32_t, void* to, const void* from, uint64_t bytes, int32_t,
                         void*) -> dl_status_t* { return std::memcpy(to, from, bytes), nullptr; };
  table.operators = [](dl_vendor_t*, const dl_operator_t** list, uint64_t* count) -> dl_status_t* {
    *list = kOperators;
    *count = 1;
    return nullptr;
  };
  *out = new dl_vendor_t{&table};
  return nullptr;
}
