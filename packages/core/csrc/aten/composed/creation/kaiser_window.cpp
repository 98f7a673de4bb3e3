// The values of torch.kaiser_window: the only step of the operator that torch leaves to the device.
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/full.h>
#include <ATen/ops/i0.h>

#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

// `positions` counts from 0 to length - 1. Kaiser, "Nonrecursive Digital Filter Design Using the
// I0-sinh Window Function", 1974: I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1.
void kaiser_window(at::TensorIteratorBase& positions, int64_t length, double beta) {
  const Tensor& window = positions.output();
  const double half = static_cast<double>(length - 1) / 2;
  const Tensor x =
      positions.input().to(at::toOpMathType(window.scalar_type())).sub_(half).div_(half);
  const Tensor whole = at::full({}, beta, x.options());
  const Tensor heights = x.square_().neg_().add_(1).sqrt_().mul_(whole);
  window.copy_(at::i0(heights).div_(at::i0(whole)));
}

}  // namespace
}  // namespace dl::core::composed

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(kaiser_window_stub, &dl::core::composed::kaiser_window)
}  // namespace at::native
