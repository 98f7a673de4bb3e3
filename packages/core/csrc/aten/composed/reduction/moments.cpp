// var, var_mean and std_mean, composed of std; nansum, count_nonzero, sums of powers.
#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/std.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Correction = std::optional<at::Scalar>;
using Pair = std::tuple<at::Tensor, at::Tensor>;

bool is_half(const at::Tensor& self) {
  return self.scalar_type() == at::kHalf || self.scalar_type() == at::kBFloat16;
}

at::Tensor var(const at::Tensor& self, at::OptionalIntArrayRef dims, const Correction& correction,
               bool keepdim) {
  if (!self.is_floating_point()) {
    return on_cpu<"var.correction", decltype(var)>(self, dims, correction, keepdim);
  }
  // A deviation rounded to half precision would lose too many bits before it is squared.
  at::Tensor deviation =
      at::std(is_half(self) ? self.to(at::kFloat) : self, dims, correction, keepdim);
  deviation.mul_(deviation);
  return is_half(self) ? deviation.to(self.scalar_type()) : deviation;
}

at::Tensor& var_out(const at::Tensor& self, at::OptionalIntArrayRef dims,
                    const Correction& correction, bool keepdim, at::Tensor& out) {
  return write_to(out, composed::var(self, dims, correction, keepdim));
}

Pair var_mean(const at::Tensor& self, at::OptionalIntArrayRef dims, const Correction& correction,
              bool keepdim) {
  if (!self.is_floating_point()) {
    return on_cpu<"var_mean.correction", decltype(var_mean)>(self, dims, correction, keepdim);
  }
  return {composed::var(self, dims, correction, keepdim), at::mean(self, dims, keepdim)};
}

Pair std_mean(const at::Tensor& self, at::OptionalIntArrayRef dims, const Correction& correction,
              bool keepdim) {
  if (!self.is_floating_point()) {
    return on_cpu<"std_mean.correction", decltype(std_mean)>(self, dims, correction, keepdim);
  }
  return {at::std(self, dims, correction, keepdim), at::mean(self, dims, keepdim)};
}

// Integer sums of values that may be NaN are undefined; the CPU has no sums into complex dtypes.
bool is_other_sum_of_floats(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  return dtype && !c10::isFloatingType(*dtype) && self.is_floating_point();
}

at::Tensor nansum(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                  std::optional<at::ScalarType> dtype) {
  if (!plans::is_real(self) || is_other_sum_of_floats(self, dtype))
    return on_cpu<"nansum", decltype(nansum)>(self, dims, keepdim, dtype);
  if (!self.is_floating_point()) return at::sum(self, dims, keepdim, dtype);
  const at::Tensor zero = at::scalar_tensor(0, self.options());
  return at::sum(at::where(at::ne(self, self), zero, self), dims, keepdim, dtype);
}

at::Tensor& nansum_out(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim,
                       std::optional<at::ScalarType> dtype, at::Tensor& out) {
  TORCH_CHECK(!dtype || *dtype == out.scalar_type(), "Provided dtype must match dtype of result");
  if (is_other_sum_of_floats(self, out.scalar_type()))
    return on_cpu<"nansum.out", decltype(nansum_out)>(self, dims, keepdim, dtype, out);
  return write_to(out, composed::nansum(self, dims, keepdim, dtype ? *dtype : out.scalar_type()));
}

// Sum of |x|^ord, whose root is the norm.
at::Tensor power_sum(const at::Tensor& self, const at::Scalar& ord, at::OptionalIntArrayRef dims,
                     bool keepdim, std::optional<at::ScalarType> dtype) {
  if (!self.is_floating_point() && !self.is_complex()) {
    return on_cpu<"linalg__powsum", decltype(power_sum)>(self, ord, dims, keepdim, dtype);
  }
  at::ScalarType type = dtype.value_or(self.scalar_type());
  if (!self.is_complex()) type = c10::toRealValueType(type);
  const at::Tensor powers = at::pow(at::abs(self.to(at::toOpMathType(type))), ord);
  return at::sum(powers, dims, keepdim, c10::toRealValueType(type));
}

at::Tensor count_nonzero(const at::Tensor& self, at::IntArrayRef dims) {
  return at::sum(at::ne(self, 0), dims, false, at::kLong);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("var.correction", var);
  DL_COMPOSED("var.correction_out", var_out);
  DL_COMPOSED("var_mean.correction", var_mean);
  DL_COMPOSED("std_mean.correction", std_mean);
  DL_COMPOSED("nansum", nansum);
  DL_COMPOSED("nansum.out", nansum_out);
  DL_COMPOSED("linalg__powsum", power_sum);
  DL_COMPOSED("count_nonzero.dim_IntList", count_nonzero);
}

}  // namespace dl::core::composed
