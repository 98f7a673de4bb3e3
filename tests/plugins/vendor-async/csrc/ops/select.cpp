// Outputs with data-dependent sizes: these wait for their own stream, then ask the host for the
// tensor.
#include <cstring>

#include "ops/dtypes.h"
#include "ops/launch.h"
#include "ops/ops.h"

namespace dl::async_test {
namespace {

int64_t count_true(const Launch& launch, const TensorView& tensor) {
  int64_t count = 0;
  launch.run([&count, &tensor] {
    walk<1>(tensor.sizes, {&tensor.strides},
            [&](const auto& at) { count += load<bool>(tensor, at[0]) ? 1 : 0; });
  });
  return count;
}

}  // namespace

diopiError_t diopiMaskedSelect(diopiContextHandle_t ctx, diopiTensorHandle_t* out,
                               diopiConstTensorHandle_t input, diopiConstTensorHandle_t mask) {
  const Launch launch(ctx, "diopiMaskedSelect");
  TensorView from = launch.view(input);
  TensorView chosen = launch.view(mask);
  int64_t bytes = 0;
  if (chosen.dtype != diopi_dtype_bool || diopiGetTensorElemSize(input, &bytes) != diopiSuccess) {
    return diopiDtypeNotSupported;
  }
  const std::vector<int64_t> shape = broadcast_shape(from.sizes, chosen.sizes);
  from = from.broadcast_to(shape);
  chosen = chosen.broadcast_to(shape);
  *out = launch.require({count_true(launch, chosen)}, from.dtype);
  launch.enqueue([to = launch.view(*out), from, chosen, bytes] {
    std::byte* next = to.data;
    walk<2>(from.sizes, {&from.strides, &chosen.strides}, [&](const auto& at) {
      if (!load<bool>(chosen, at[1])) return;
      std::memcpy(next, from.data + at[0] * bytes, static_cast<size_t>(bytes));
      next += bytes;
    });
  });
  return diopiSuccess;
}

diopiError_t diopiNonzero(diopiContextHandle_t ctx, diopiTensorHandle_t* out,
                          diopiConstTensorHandle_t input) {
  const Launch launch(ctx, "diopiNonzero");
  const TensorView from = launch.view(input);
  if (!is_numeric(from.dtype)) return diopiDtypeNotSupported;
  const auto ndim = static_cast<int64_t>(from.sizes.size());
  *out = launch.require({count_true(launch, from), ndim}, diopi_dtype_int64);
  launch.enqueue([to = launch.view(*out), from] {
    auto* next = reinterpret_cast<int64_t*>(to.data);
    int64_t position = 0;  // in row-major order
    walk<1>(from.sizes, {&from.strides}, [&](const auto& at) {
      int64_t rest = position++;
      if (!load<bool>(from, at[0])) return;
      for (size_t dim = from.sizes.size(); dim-- > 0; rest /= from.sizes[dim])
        next[dim] = rest % from.sizes[dim];
      next += from.sizes.size();
    });
  });
  return diopiSuccess;
}

}  // namespace dl::async_test
