// Rounding to the nearest integer, and to decimals.
#include "aten/composed/elementwise/rounding.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>

#include <cmath>

namespace dl::core::composed {

// Adding and then subtracting the smallest float whose ULP is 1 rounds to nearest, ties to even.
Tensor round_to_even(const Tensor& x) {
  if (!x.is_floating_point()) return x;
  const double whole = x.scalar_type() == at::kDouble ? 0x1p52 : 0x1p23;
  const Tensor magnitude = x.abs();
  const Tensor rounded = copysign_of(magnitude.add(whole).sub_(whole), x);
  return at::where(magnitude.lt(whole), rounded, x);
}

namespace {

Tensor round_decimals(const Tensor& x, int64_t decimals) {
  if (decimals == 0 || !x.is_floating_point()) return at::round(x);
  const double ten = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return decimals > 0 ? at::round(x.mul(ten)).div(ten) : at::round(x.div(ten)).mul(ten);
}

using RoundDecimals = Unary<round_decimals, Promotion::same, "round", "decimals", "decimals_out">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED_FORMS("round.decimals", "round.decimals_out", "round_.decimals", RoundDecimals);
}

}  // namespace dl::core::composed
