#include <type_traits>

#include "error.h"
#include "ops/dtypes.h"
#include "ops/launch.h"
#include "ops/ops.h"

namespace dl::async_test {

diopiError_t diopiMm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat2) {
  const Launch launch(ctx, "diopiMm");
  const TensorView to = launch.view(out);
  const TensorView a = launch.view(input);
  const TensorView b = launch.view(mat2);
  if (!is_computed(to.dtype) || a.dtype != to.dtype || b.dtype != to.dtype)
    return diopiDtypeNotSupported;
  if (a.sizes.size() != 2 || b.sizes.size() != 2 || a.sizes[1] != b.sizes[0] ||
      to.sizes != std::vector<int64_t>{a.sizes[0], b.sizes[1]}) {
    throw Error(DL_INVALID_ARGUMENT, "the shapes must be out (m, n), input (m, k) and mat2 (k, n)");
  }
  launch.enqueue([to, a, b] {
    with_computed(to.dtype, [&](auto zero) {
      using Sum = std::conditional_t<std::is_integral_v<decltype(zero)>, uint64_t, double>;
      using T = std::conditional_t<std::is_integral_v<decltype(zero)>, int64_t, double>;
      for (int64_t row = 0; row < to.sizes[0]; ++row) {
        for (int64_t column = 0; column < to.sizes[1]; ++column) {
          Sum sum = 0;
          for (int64_t k = 0; k < a.sizes[1]; ++k) {
            sum += static_cast<Sum>(load<T>(a, row * a.strides[0] + k * a.strides[1])) *
                   static_cast<Sum>(load<T>(b, k * b.strides[0] + column * b.strides[1]));
          }
          store(to, row * to.strides[0] + column * to.strides[1], static_cast<T>(sum));
        }
      }
    });
  });
  return diopiSuccess;
}

}  // namespace dl::async_test
