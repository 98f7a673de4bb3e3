// Reads at positions that only the device knows. An index out of range is reported in the stream's
// error word; without one, the item fails, like every other failure here.
#include <cstring>
#include <string>

#include "error.h"
#include "ops/launch.h"
#include "ops/ops.h"

namespace dl::async_test {
namespace {

constexpr const char* kName = "diopiIndexSelect";

void leave(dl_device_error_t* word, int64_t index, int64_t position, int64_t extent) {
  if (word == nullptr) {
    throw Error(DL_INVALID_ARGUMENT, "index " + std::to_string(index) + " at position " +
                                         std::to_string(position) + " is out of range [0, " +
                                         std::to_string(extent) + ")");
  }
  // Items of a stream run one after another, so that this is the only writer.
  if (word->state != DL_DEVICE_ERROR_NONE) return;
  word->kind = DL_DEVICE_ERROR_INDEX;
  word->value = index;
  word->position = position;
  word->low = 0;
  word->high = extent;
  std::strcpy(word->operator_name, kName);
  std::strcpy(word->text, "index {value} at position {position} is out of range [{low}, {high})");
  __atomic_store_n(&word->state, uint32_t{DL_DEVICE_ERROR_RAISED}, __ATOMIC_RELEASE);
}

}  // namespace

diopiError_t diopiIndexSelect(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                              diopiConstTensorHandle_t input, int64_t dim,
                              diopiConstTensorHandle_t index) {
  const Launch launch(ctx, kName);
  const TensorView to = launch.view(out), from = launch.view(input), at = launch.view(index);
  int64_t bytes = 0;
  const bool reads_index = at.dtype == diopi_dtype_int64 || at.dtype == diopi_dtype_int32;
  if (to.dtype != from.dtype || !reads_index ||
      diopiGetTensorElemSize(input, &bytes) != diopiSuccess) {
    return diopiDtypeNotSupported;
  }
  if (from.sizes.empty() || at.sizes.size() != 1) return diopiNoImplement;
  const size_t d = normalized_dim(from, dim);
  std::vector<int64_t> slice = from.sizes;
  slice[d] = at.numel;
  if (to.sizes != slice) throw Error(DL_INVALID_ARGUMENT, "the output needs one slice per index");
  slice[d] = 1;
  launch.enqueue([=, word = launch.error_word()] {
    for (int64_t i = 0; i < at.numel; ++i) {
      const auto position = load<int64_t>(at, i * at.strides[0]);
      if (position < 0 || position >= from.sizes[d]) {
        leave(word, position, i, from.sizes[d]);
        continue;
      }
      std::byte* const target = to.data + i * to.strides[d] * bytes;
      const std::byte* const source = from.data + position * from.strides[d] * bytes;
      walk<2>(slice, {&to.strides, &from.strides}, [&](const auto& offsets) {
        std::memcpy(target + offsets[0] * bytes, source + offsets[1] * bytes,
                    static_cast<size_t>(bytes));
      });
    }
  });
  return diopiSuccess;
}

}  // namespace dl::async_test
