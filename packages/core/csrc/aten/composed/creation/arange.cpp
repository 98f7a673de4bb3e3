// arange and linspace; range and logspace are built on them.
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
#include "aten/plans/stored_scalar.h"

namespace dl::core::composed {
namespace {

bool real_output(const Tensor& out) {
  return to_diopi(out.scalar_type()) != diopi_dtype_unsupported && !out.is_complex() &&
         out.scalar_type() != at::kBool;
}

// As in torch, an output with the right number of elements keeps its shape.
void resize_for(Tensor& out, int64_t count) {
  if (out.numel() != count) at::native::resize_output(out, {count});
}

Site arange_site{"arange.start_out", {"arange.start_out"}, {Op::diopiArange}};

// The arguments of a sequence, converted to its dtype as torch's kernels do.
struct Sequence {
  int64_t count;
  Scalar start, end, step;
};

// Number of elements of a torch.int64 sequence, computed in integer arithmetic as torch does.
std::optional<int64_t> count_exactly(int64_t start, int64_t end, int64_t step) {
  const int64_t sign = step > 0 ? 1 : -1;
  int64_t span, up;
  if (__builtin_sub_overflow(end, start, &span) || __builtin_add_overflow(span, step - sign, &up))
    return std::nullopt;
  // Negating the smallest int64 overflows, and so does the division; torch's CPU kernel does not
  // check for these overflows.
  TORCH_CHECK(step != -1 || up != std::numeric_limits<int64_t>::min(),
              "invalid size, possible overflow? arange from ", start, " to ", end, " in steps of ",
              step);
  return up / step;
}

// Returns true if double represents `number` and both of its neighbors exactly.
bool is_exact(int64_t number) {
  constexpr int64_t kMost = int64_t{1} << 53;
  return -kMost < number && number < kMost;
}

// The arguments of an integer sequence, without their fractions, as in torch. `count` is the number
// of elements by the rules of arange, or of range, which includes `end`. Empty on overflow.
std::optional<Sequence> integer_sequence(int64_t count, int64_t start, int64_t step) {
  int64_t length, end;
  if (__builtin_mul_overflow(count, step, &length) || __builtin_add_overflow(start, length, &end))
    return std::nullopt;
  return Sequence{count, start, end, step};
}

// Returns true if the steps lead from `start` towards `end`. torch's kernels reject other steps.
bool reaches_end(double start, double end, double step) {
  return step > 0 ? start <= end : step < 0 && start >= end;
}

// Returns true if for integer sequences torch converts these arguments, all finite, to int64.
bool are_usable(const Scalar& start, const Scalar& end, const Scalar& step, c10::ScalarType type) {
  const bool integers = c10::isIntegralType(type, false);
  const auto usable = [&](const Scalar& number) {
    if (number.isComplex() || number.type() == at::kUInt64) return false;
    return integers ? plans::holds(at::kLong, number) : std::isfinite(number.toDouble());
  };
  return usable(start) && usable(end) && usable(step);
}

// The sequence of arange, which excludes `end`; empty for arguments that torch rejects. Torch
// counts the elements of torch.int64 in integers, the elements of other dtypes in the type of its
// arguments.
std::optional<Sequence> arange_sequence(const Scalar& start, const Scalar& end, const Scalar& step,
                                        c10::ScalarType type) {
  if (!are_usable(start, end, step, type)) return std::nullopt;
  const double from = start.toDouble(), to = end.toDouble(), by = step.toDouble();
  if (!reaches_end(from, to, by)) return std::nullopt;
  if (type == at::kLong) {
    const int64_t first = start.toLong(), last = end.toLong(), width = step.toLong();
    if (width == 0) return std::nullopt;
    const auto count = count_exactly(first, last, width);
    // Vendors count the elements in double.
    if (!count || *count < 0 || !is_exact(first) || !is_exact(last)) return std::nullopt;
    return Sequence{*count, first, last, width};
  }
  const double steps = std::ceil((to - from) / by);
  if (!(steps < 9e18)) return std::nullopt;
  if (!c10::isIntegralType(type, false))
    return Sequence{static_cast<int64_t>(steps), start, end, step};
  if (step.toLong() == 0) return std::nullopt;
  return integer_sequence(static_cast<int64_t>(steps), start.toLong(), step.toLong());
}

bool arange_natively(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  if (out.device().type() != kDeviceType || !real_output(out) ||
      arange_site.disabled.load(std::memory_order_relaxed))
    return false;
  const int device = out.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiArange);
  const auto sequence = arange_sequence(start, end, step, out.scalar_type());
  if (function == nullptr || !sequence) return false;
  resize_for(out, sequence->count);
  NativeCall call(arange_site, device);
  OutputHandle target(out);
  const diopiScalar_t first = to_scalar(sequence->start), last = to_scalar(sequence->end),
                      width = to_scalar(sequence->step);
  return call.run("diopiArange", function, target.get(), &first, &last, &width);
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  if (arange_natively(start, end, step, out)) return out;
  return on_cpu<"arange.start_out", Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>(
      start, end, step, out);
}

// Same as arange_sequence, but includes `end`. torch counts in integers for integer dtypes.
std::optional<Sequence> range_sequence(const Scalar& start, const Scalar& end, const Scalar& step,
                                       c10::ScalarType type) {
  if (!are_usable(start, end, step, type)) return std::nullopt;
  const double from = start.toDouble(), to = end.toDouble(), by = step.toDouble();
  if (!reaches_end(from, to, by)) return std::nullopt;
  if (!c10::isIntegralType(type, false)) {
    const double steps = std::floor((to - from) / by) + 1;
    if (!(steps < 9e18)) return std::nullopt;
    return Sequence{static_cast<int64_t>(steps), from, from + (steps - 0.5) * by, by};
  }
  const int64_t first = start.toLong(), last = end.toLong(), width = step.toLong();
  // Torch's CPU kernel divides by the step without this check.
  TORCH_CHECK(width != 0, "range: step must be nonzero, but it is ", step,
              ", which is 0 in an integer dtype");
  int64_t span;
  if (__builtin_sub_overflow(last, first, &span) ||
      (width == -1 && span == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  return integer_sequence(span / width + 1, first, width);
}

Tensor& range_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const auto sequence = range_sequence(start, end, step, out.scalar_type());
  if (!sequence || !real_output(out)) {
    return on_cpu<"range.out", Tensor&(const Scalar&, const Scalar&, const Scalar&, Tensor&)>(
        start, end, step, out);
  }
  return at::arange_out(out, sequence->start, sequence->end, sequence->step);
}

Site linspace_site{"linspace.out", {"linspace.out"}, {Op::diopiLinspace}};

struct Bounds {
  double start, end;
};

// The bounds converted to the dtype, as torch's kernels read them. Empty where the dtype or double
// cannot represent them. `end` is used only if there are two or more steps.
std::optional<Bounds> bounds_of(const Scalar& start, const Scalar& end, int64_t steps,
                                c10::ScalarType type) {
  if (steps < 0 || start.isComplex() || end.isComplex()) return std::nullopt;
  if (steps == 0) return Bounds{0, 0};
  const auto first = plans::stored_value(type, start);
  const auto last = steps == 1 ? first : plans::stored_value(type, end);
  return first && last ? std::optional(Bounds{*first, *last}) : std::nullopt;
}

bool linspace_natively(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (out.device().type() != kDeviceType || !real_output(out) ||
      linspace_site.disabled.load(std::memory_order_relaxed))
    return false;
  const int device = out.get_device();
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device), diopiLinspace);
  const auto bounds = bounds_of(start, end, steps, out.scalar_type());
  if (function == nullptr || !bounds) return false;
  resize_for(out, steps);
  NativeCall call(linspace_site, device);
  OutputHandle target(out);
  const diopiScalar_t first = to_scalar(bounds->start), last = to_scalar(bounds->end);
  return call.run("diopiLinspace", function, target.get(), &first, &last, steps);
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (linspace_natively(start, end, steps, out)) return out;
  return on_cpu<"linspace.out", Tensor&(const Scalar&, const Scalar&, int64_t, Tensor&)>(
      start, end, steps, out);
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base,
                     Tensor& out) {
  const auto bounds = bounds_of(start, end, steps, out.scalar_type());
  // A single step yields the power of the unconverted `start`; its conversion is checked too.
  const bool single = steps == 1 && !start.isComplex();
  if (!real_output(out) || !(bounds || single)) {
    return on_cpu<"logspace.out", Tensor&(const Scalar&, const Scalar&, int64_t, double, Tensor&)>(
        start, end, steps, base, out);
  }
  if (single) {
    resize_for(out, 1);
    return out.fill_(std::pow(base, start.toDouble()));
  }
  const Tensor exponents =
      at::linspace(bounds->start, bounds->end, steps, out.options().dtype(at::kDouble));
  resize_for(out, steps);
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
