#include <cstring>

#include "ops/dtypes.h"
#include "ops/launch.h"
#include "ops/ops.h"
#include "ops/scalar.h"

namespace dl::async_test {
namespace {

diopiError_t copy(diopiContextHandle_t ctx, const char* name, diopiTensorHandle_t out,
                  diopiConstTensorHandle_t input) {
  const Launch launch(ctx, name);
  const TensorView to = launch.view(out);
  const TensorView from = launch.view(input).broadcast_to(to.sizes);
  if (to.dtype == from.dtype) {
    int64_t bytes = 0;
    if (diopiGetTensorElemSize(input, &bytes) != diopiSuccess) return diopiDtypeNotSupported;
    launch.enqueue([to, from, bytes] {
      walk<2>(to.sizes, {&to.strides, &from.strides}, [&](const auto& at) {
        std::memmove(to.data + at[0] * bytes, from.data + at[1] * bytes,
                     static_cast<size_t>(bytes));
      });
    });
    return diopiSuccess;
  }
  if (!is_numeric(to.dtype) || !is_numeric(from.dtype)) return diopiDtypeNotSupported;
  launch.enqueue([to, from] {
    walk<2>(to.sizes, {&to.strides, &from.strides}, [&](const auto& at) {
      if (is_floating(from.dtype)) {
        store(to, at[0], load<double>(from, at[1]));
      } else {
        store(to, at[0], load<int64_t>(from, at[1]));
      }
    });
  });
  return diopiSuccess;
}

}  // namespace

diopiError_t diopiCopyInp(diopiContextHandle_t ctx, diopiConstTensorHandle_t src,
                          diopiTensorHandle_t dest) {
  return copy(ctx, "diopiCopyInp", dest, src);
}

diopiError_t diopiCastDtype(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input) {
  return copy(ctx, "diopiCastDtype", out, input);
}

diopiError_t diopiFill(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                       const diopiScalar_t* value) {
  const Launch launch(ctx, "diopiFill");
  const TensorView to = launch.view(input);
  if (!is_numeric(to.dtype)) return diopiDtypeNotSupported;
  launch.enqueue([to, filler = Scalar(value)] {
    walk<1>(to.sizes, {&to.strides}, [&](const auto& at) {
      if (filler.floating()) {
        store(to, at[0], filler.as<double>());
      } else {
        store(to, at[0], filler.as<int64_t>());
      }
    });
  });
  return diopiSuccess;
}

}  // namespace dl::async_test
