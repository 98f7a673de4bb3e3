// A device that one case breaks: all later allocations and copies fail. With DL_TEST_NO_BOARD, the
// device is absent.
#include <cstdlib>
#include <cstring>

#include "dl/kit/operators.h"
#include "dl/kit/tensor.h"

namespace {

namespace kit = dl::kit;

bool lost = false;

void demand_device() {
  if (lost) throw kit::Error(DL_ERROR, "the device fell off the bus");
}

struct Board : kit::Instance {
  static constexpr const char* kName = "board";
  static constexpr const char* kVersion = "1";
  static constexpr uint64_t kCapabilities = DL_CAP_SYNCHRONOUS;

  int32_t device_count() {
    if (std::getenv("DL_TEST_NO_BOARD") == nullptr) return 1;
    host->log(host, DL_LOG_INFO, "the board is not plugged in");
    return 0;
  }
  void* memory_allocate(int32_t, uint64_t bytes) {
    demand_device();
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void memory_free(int32_t, void* memory) { std::free(memory); }
  void memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t, void*) {
    demand_device();
    std::memcpy(to, from, bytes);
  }
  kit::Operators operators();
};

namespace ops {

diopiError_t diopiRelu(diopiContextHandle_t, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  const dl_tensor_prefix_t &from = kit::tensor_of(input), &to = kit::tensor_of(out);
  if (from.dtype != diopi_dtype_float32 || (from.flags & to.flags & DL_TENSOR_CONTIGUOUS) == 0)
    throw kit::Error(DL_NOT_SUPPORTED, "only contiguous float32");
  lost = to.numel == 5;
  for (int64_t i = 0; i < to.numel; ++i) {
    const float x = static_cast<const float*>(from.data)[i];
    static_cast<float*>(to.data)[i] = x < 0 ? 0 : x;
  }
  return diopiSuccess;
}

}  // namespace ops

const dl_operator_t kOperators[] = {DL_KIT_OPERATOR(Board, ops, diopiRelu)};
kit::Operators Board::operators() { return kOperators; }

}  // namespace

DL_KIT_VENDOR(Board)
