// arange, range, linspace, logspace and eye.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/pow.h>

#include <cmath>

#include "aten/composed.h"
#include "aten/composed/outputs.h"
#include "aten/wrapper.h"

namespace dl::core {
namespace {

using at::Scalar;
using at::Tensor;

bool real_output(const Tensor& out) {
  return to_diopi(out.scalar_type()) != diopi_dtype_unsupported && !out.is_complex() &&
         out.scalar_type() != at::kBool;
}

// As torch: an output with the right number of elements keeps its shape.
void hold(Tensor& out, int64_t count) {
  if (out.numel() != count) at::native::resize_output(out, {count});
}

Site arange_site{"arange.start_out", {"arange.start_out"}, {Op::diopiArange}};

// Steps from `start` that stay below `end`; nothing for what torch refuses.
std::optional<int64_t> arange_count(const Scalar& start, const Scalar& end, const Scalar& step,
                                    c10::ScalarType type) {
  if (start.isComplex() || end.isComplex() || step.isComplex()) return std::nullopt;
  const double first = start.toDouble(), last = end.toDouble(), width = step.toDouble();
  if (!std::isfinite(first) || !std::isfinite(last) || width == 0 || std::isnan(width) ||
      (width > 0 ? first > last : first < last))
    return std::nullopt;
  double count = std::ceil((last - first) / width);
  if (type == at::kLong && start.isIntegral(false) && end.isIntegral(false) &&
      step.isIntegral(false)) {
    const int64_t n = step.toLong();
    const int64_t sign = n > 0 ? 1 : -1;
    int64_t span;
    if (__builtin_sub_overflow(end.toLong(), start.toLong(), &span)) return std::nullopt;
    count = static_cast<double>((span + n - sign) / n);
  }
  // In whole numbers a step below one is none.
  if (c10::isIntegralType(type, false) && std::trunc(width) == 0) return std::nullopt;
  if (count < 0 || count >= 9e18) return std::nullopt;
  return static_cast<int64_t>(count);
}

bool arange_natively(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  if (out.device().type() != kDeviceType || !real_output(out) ||
      arange_site.disabled.load(std::memory_order_relaxed))
    return false;
  const int device = out.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiArange);
  const std::optional<int64_t> count = arange_count(start, end, step, out.scalar_type());
  if (function == nullptr || !count) return false;
  hold(out, *count);
  NativeCall call(arange_site, device);
  OutputHandle target(out);
  const diopiScalar_t first = to_scalar(start), last = to_scalar(end), width = to_scalar(step);
  return call.run("diopiArange", function, target.get(), &first, &last, &width);
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  if (arange_natively(start, end, step, out)) return out;
  static const auto op = find_operator("aten::arange", "start_out");
  return TypedFallback<Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>::call(
      op, start, end, step, out);
}

// As arange, with the end included.
Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const auto count = arange_count(start, end, step, at::kDouble);
  if (!count || !real_output(out)) {
    static const auto op = find_operator("aten::range", "out");
    return TypedFallback<Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>::call(
        op, start, end, step, out);
  }
  if (c10::isIntegralType(out.scalar_type(), false)) {
    const int64_t first = start.toLong(), width = step.toLong();
    TORCH_CHECK(width != 0, "step must be nonzero");
    return at::arange_out(out, first, first + ((end.toLong() - first) / width + 1) * width, width);
  }
  const double first = start.toDouble(), width = step.toDouble();
  const double steps = std::floor((end.toDouble() - first) / width) + 1;
  return at::arange_out(out, first, first + (steps - 0.5) * width, width);
}

Site linspace_site{"linspace.out", {"linspace.out"}, {Op::diopiLinspace}};

bool linspace_natively(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (out.device().type() != kDeviceType || !real_output(out) || steps < 0 || start.isComplex() ||
      end.isComplex() || linspace_site.disabled.load(std::memory_order_relaxed))
    return false;
  const int device = out.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiLinspace);
  if (function == nullptr) return false;
  hold(out, steps);
  NativeCall call(linspace_site, device);
  OutputHandle target(out);
  const diopiScalar_t first = to_scalar(start), last = to_scalar(end);
  return call.run("diopiLinspace", function, target.get(), &first, &last, steps);
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (linspace_natively(start, end, steps, out)) return out;
  static const auto op = find_operator("aten::linspace", "out");
  return TypedFallback<Tensor&(const Scalar&, const Scalar&, int64_t, Tensor&)>::call(
      op, start, end, steps, out);
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base,
                     Tensor& out) {
  if (!real_output(out) || steps < 0 || start.isComplex() || end.isComplex()) {
    static const auto op = find_operator("aten::logspace", "out");
    return TypedFallback<Tensor&(const Scalar&, const Scalar&, int64_t, double, Tensor&)>::call(
        op, start, end, steps, base, out);
  }
  const Tensor exponents = at::linspace(start, end, steps, out.options().dtype(at::kDouble));
  hold(out, steps);
  return out.copy_(at::pow(at::full_like(exponents, base), exponents).view(out.sizes()));
}

Tensor& eye_of(int64_t rows, int64_t columns, Tensor& out) {
  TORCH_CHECK(rows >= 0, "n must be greater or equal to 0, got ", rows);
  TORCH_CHECK(columns >= 0, "m must be greater or equal to 0, got ", columns);
  at::native::resize_output(out, {rows, columns});
  out.zero_();
  out.diagonal().fill_(1);
  return out;
}

Tensor& eye_out(int64_t n, Tensor& out) { return eye_of(n, n, out); }

Tensor& eye_m_out(int64_t n, int64_t m, Tensor& out) { return eye_of(n, m, out); }

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("arange.start_out", arange_out);
  DL_KERNEL("linspace.out", linspace_out);
  DL_COMPOSED("range.out", range_out);
  DL_COMPOSED("logspace.out", logspace_out);
  DL_COMPOSED("eye.out", eye_out);
  DL_COMPOSED("eye.m_out", eye_m_out);
}

}  // namespace dl::core
