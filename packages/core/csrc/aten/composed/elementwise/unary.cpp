// Elementwise unary functions that the contract does not have: exp2, frac, trunc, ...
#include <ATen/ops/imag.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/real.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>

#include "aten/composed/elementwise_forms.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

constexpr double kPi = 3.14159265358979323846;

Tensor isposinf(const Tensor& x) { return x.eq(kInfinity); }
Tensor isneginf(const Tensor& x) { return x.eq(-kInfinity); }
Tensor signbit(const Tensor& x) {
  const auto type = x.scalar_type();
  // The contract cannot compare wide unsigned integers.
  const bool is_signed = c10::isIntegralType(type, false) && c10::isSignedType(type);
  if (is_signed) return x.lt(0);
  return x.is_floating_point() ? signbit_of(x) : at::zeros_like(x, x.options().dtype(at::kBool));
}

Tensor frac(const Tensor& x) {
  check_floating("frac_cpu", x.scalar_type());
  return x.sub(trunc_of(x));
}

Tensor exp2(const Tensor& x) { return at::pow(Scalar(2.0), x); }

// sin(πx) / (πx).
Tensor sinc(const Tensor& x) {
  const Tensor scaled = x.mul(kPi);
  return scaled.sin().div_(scaled).masked_fill_(x.eq(0), 1);
}

// Above 1/2: trapezoidal rule on an integral representation of erfc, plus the residue of the
// integrand's pole. Source: Chiarella and Reichl, On the evaluation of integrals related to the
// error function (Mathematics of Computation 22, 1968). With a step of 1/2 its error is below the
// rounding error of double.
Tensor erfc(const Tensor& input) {
  const Tensor x = input.to(at::kDouble);
  constexpr double h = 0.5;
  const Tensor a = x.clamp(0.5, 28.0);
  const Tensor square = a.mul(a);
  Tensor sum = at::zeros_like(a);
  for (int n = 12; n >= 1; --n) {
    const double node = n * n * h * h;
    sum.add_(square.add(node).reciprocal_(), 2.0 * std::exp(-node));
  }
  sum.add_(square.reciprocal());
  // exp(-a²), with `a` split into a head whose square is exact, and the rest.
  const Tensor head = a.to(at::kFloat).to(at::kDouble);
  Tensor result = head.mul(head).neg_().exp_();
  result.mul_(a.sub(head).mul_(a.add(head)).neg_().exp_());
  result.mul_(sum.mul_(a)).mul_(h / kPi);
  const Tensor residue = a.mul(2.0 * kPi / h).exp_().sub_(1.0).reciprocal_().mul_(2.0);
  result.sub_(residue.masked_fill_(a.gt(kPi / h), 0.0));
  return at::where(x.gt(0.5), result, x.erf().neg_().add_(1.0));
}

// The replacements for NaN and for the infinities, in the caller's dtype.
struct Replacements {
  double nan, posinf, neginf;
};
Replacements replacements(c10::ScalarType type, std::optional<double> nan,
                          std::optional<double> posinf, std::optional<double> neginf) {
  const double largest = type == at::kDouble ? std::numeric_limits<double>::max()
                         : type == at::kHalf ? 65504.0
                         : type == at::kBFloat16
                             ? std::ldexp(255.0, 120)
                             : static_cast<double>(std::numeric_limits<float>::max());
  return {nan.value_or(0.0), posinf.value_or(largest), neginf.value_or(-largest)};
}
Tensor replace(const Tensor& x, Replacements by) {
  if (!x.is_floating_point()) return x;
  // The largest numbers for infinities are also the bounds of all others.
  const Replacements usual = replacements(x.scalar_type(), {}, {}, {});
  if (by.posinf == usual.posinf && by.neginf == usual.neginf)
    return x.clamp(by.neginf, by.posinf).masked_fill_(x.ne(x), by.nan);
  return x.masked_fill(x.ne(x), by.nan)
      .masked_fill_(x.eq(kInfinity), by.posinf)
      .masked_fill_(x.eq(-kInfinity), by.neginf);
}

struct NanToNum {
  using Finite = Unary<replace, Promotion::same, "nan_to_num">;
  static Tensor functional(const Tensor& self, std::optional<double> nan,
                           std::optional<double> posinf, std::optional<double> neginf) {
    if (self.is_complex()) {
      return on_cpu<"nan_to_num", decltype(functional)>(self, nan, posinf, neginf);
    }
    return Finite::run({}, self, replacements(self.scalar_type(), nan, posinf, neginf));
  }
  static Tensor& out(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                     std::optional<double> neginf, Tensor& out) {
    if (self.is_complex()) {
      return on_cpu<"nan_to_num.out",
                    Tensor&(const Tensor&, std::optional<double>, std::optional<double>,
                            std::optional<double>, Tensor&)>(self, nan, posinf, neginf, out);
    }
    Finite::run(out, self, replacements(self.scalar_type(), nan, posinf, neginf));
    return out;
  }
  static Tensor& inplace(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                         std::optional<double> neginf) {
    return out(self, nan, posinf, neginf, self);
  }
};

// For eps >= 1/2, eps exceeds 1 - eps: values below eps become eps, all others 1 - eps. clamp()
// would return 1 - eps everywhere.
Tensor clamp_eps(const Tensor& x, double eps) {
  if (eps <= 0.5) return x.clamp(eps, 1.0 - eps);
  return x.clamp_max(1.0 - eps).masked_fill_(x.lt(eps), eps);
}

Tensor logit(const Tensor& x, std::optional<double> eps) {
  // If the bounds are NaN, no value is out of range.
  const Tensor p = eps && !std::isnan(*eps) ? clamp_eps(x, *eps) : x;
  return p.div(p.neg().add_(1.0)).log_();
}

// 0 or π for real numbers; for complex numbers, from their real and imaginary parts.
Tensor angle_of_real(const Tensor& x) {
  return x.masked_fill(x.gt(0), 0.0).masked_fill_(x.lt(0), kPi).abs_();
}
Tensor angle(const Tensor& self) {
  if (self.is_complex()) {
    const Tensor result = at::imag(self).atan2(at::real(self));
    // The parts' strides may order dimensions of size 1 differently from the strides of `self`.
    Tensor out;
    at::TensorIteratorConfig config;
    config.check_all_same_dtype(false).add_output(out).add_const_input(self);
    config.declare_static_dtype(result.scalar_type());
    out = config.build().output();
    return out.strides() == result.strides() ? result : out.copy_(result);
  }
  return Unary<angle_of_real, Promotion::floating, "angle">::run({}, self);
}
Tensor& angle_out(const Tensor& self, Tensor& out) { return write_to(out, angle(self)); }

using IsPosInf = Unary<isposinf, Promotion::comparison, "isposinf">;
using IsNegInf = Unary<isneginf, Promotion::comparison, "isneginf">;
using Signbit = Unary<signbit, Promotion::comparison, "signbit">;
using Trunc = Unary<trunc_of, Promotion::same, "trunc">;
using Frac = Unary<frac, Promotion::same, "frac">;

void check_bool_output(const char* name, const Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kBool, name, " does not support non-boolean outputs.");
}
Tensor& isposinf_out(const Tensor& self, Tensor& out) {
  check_bool_output("isposinf", out);
  return IsPosInf::out(self, out);
}
Tensor& isneginf_out(const Tensor& self, Tensor& out) {
  check_bool_output("isneginf", out);
  return IsNegInf::out(self, out);
}
Tensor& signbit_out(const Tensor& self, Tensor& out) {
  check_bool_output("signbit", out);
  return Signbit::out(self, out);
}

using Exp2 = Unary<exp2, Promotion::floating, "exp2">;
using Sinc = Unary<sinc, Promotion::floating, "sinc">;
using Erfc = Unary<erfc, Promotion::floating, "erfc">;
using Logit = Unary<logit, Promotion::floating, "logit">;

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("isposinf", IsPosInf::functional);
  DL_COMPOSED("isposinf.out", isposinf_out);
  DL_COMPOSED("isneginf", IsNegInf::functional);
  DL_COMPOSED("isneginf.out", isneginf_out);
  DL_COMPOSED("signbit", Signbit::functional);
  DL_COMPOSED("signbit.out", signbit_out);
  DL_COMPOSED_FORMS("trunc", "trunc.out", "trunc_", Trunc);
  DL_COMPOSED_FORMS("frac", "frac.out", "frac_", Frac);
  DL_COMPOSED_FORMS("exp2", "exp2.out", "exp2_", Exp2);
  DL_COMPOSED_FORMS("sinc", "sinc.out", "sinc_", Sinc);
  DL_COMPOSED_FORMS("erfc", "erfc.out", "erfc_", Erfc);
  DL_COMPOSED_FORMS("logit", "logit.out", "logit_", Logit);
  DL_COMPOSED_FORMS("nan_to_num", "nan_to_num.out", "nan_to_num_", NanToNum);
  DL_COMPOSED("angle", angle);
  DL_COMPOSED("angle.out", angle_out);
}

}  // namespace dl::core::composed
