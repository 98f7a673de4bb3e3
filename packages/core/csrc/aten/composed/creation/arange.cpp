// arange and linspace, and range and logspace, which are built from them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/pow.h>

#include <cmath>
#include <limits>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

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
    int64_t span, up;
    if (__builtin_sub_overflow(end.toLong(), start.toLong(), &span) ||
        __builtin_add_overflow(span, n - sign, &up))
      return std::nullopt;
    // The least number has no opposite, which processors cannot divide for; torch's CPU does not
    // ask.
    TORCH_CHECK(n != -1 || up != std::numeric_limits<int64_t>::min(),
                "invalid size, possible overflow? arange from ", start.toLong(), " to ",
                end.toLong(), " in steps of ", n);
    count = static_cast<double>(up / n);
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
  return on_cpu<"arange.start_out", Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>(
      start, end, step, out);
}

// As arange, with the end included.
Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const auto count = arange_count(start, end, step, at::kDouble);
  if (!count || !real_output(out)) {
    return on_cpu<"range.out", Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>(
        start, end, step, out);
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
  return on_cpu<"linspace.out", Tensor&(const Scalar&, const Scalar&, int64_t, Tensor&)>(
      start, end, steps, out);
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base,
                     Tensor& out) {
  if (!real_output(out) || steps < 0 || start.isComplex() || end.isComplex()) {
    return on_cpu<"logspace.out", Tensor&(const Scalar&, const Scalar&, int64_t, double, Tensor&)>(
        start, end, steps, base, out);
  }
  const Tensor exponents = at::linspace(start, end, steps, out.options().dtype(at::kDouble));
  hold(out, steps);
  return out.copy_(at::pow(at::full_like(exponents, base), exponents).view(out.sizes()));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("arange.start_out", arange_out);
  DL_KERNEL("linspace.out", linspace_out);
  DL_COMPOSED("range.out", range_out);
  DL_COMPOSED("logspace.out", logspace_out);
}

}  // namespace dl::core::composed
