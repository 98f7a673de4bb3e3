#include "aten/plans/random.h"

#include <ATen/ExpandUtils.h>

#include <limits>

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"

namespace dl::core::plans {
namespace {

struct Range {
  int64_t low, high;
};

template <typename T>
constexpr Range range_of() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

// Range of integers that a dtype represents exactly; empty if there is no native path.
Range exact_integers(at::ScalarType type) {
  const auto floating_range = [](int digits) {
    const int64_t most = int64_t{1} << digits;
    return Range{-most, most};
  };
  switch (type) {
    case at::kDouble:
      return floating_range(std::numeric_limits<double>::digits);
    case at::kFloat:
      return floating_range(std::numeric_limits<float>::digits);
    case at::kHalf:
      return floating_range(std::numeric_limits<c10::Half>::digits);
    case at::kBFloat16:
      return floating_range(std::numeric_limits<c10::BFloat16>::digits);
    case at::kBool:
      return {0, 1};
    case at::kByte:
      return range_of<uint8_t>();
    case at::kChar:
      return range_of<int8_t>();
    case at::kShort:
      return range_of<int16_t>();
    case at::kInt:
      return range_of<int32_t>();
    case at::kLong:
      return range_of<int64_t>();
    case at::kUInt16:
      return range_of<uint16_t>();
    case at::kUInt32:
      return range_of<uint32_t>();
    case at::kUInt64:
      // The largest possible bound.
      return {0, std::numeric_limits<int64_t>::max()};
    default:
      return {0, -1};
  }
}

bool plan_samples(OutputPlan& plan, const Tensor& model, at::IntArrayRef sizes) {
  if (!alike(model) || !floating(model)) return false;
  plan.start(model);
  plan.output(sizes, model.scalar_type());
  return true;
}

}  // namespace

bool random_like(OutputPlan& plan, const Tensor& model) {
  return plan_samples(plan, model, model.sizes());
}

bool random_like_both(OutputPlan& plan, NormalValues& values, const Tensor& mean,
                      const Tensor& std) {
  if (!alike(mean, std) || !at::are_expandable(mean.sizes(), std.sizes())) return false;
  const at::DimVector sizes = at::infer_size_dimvector(mean.sizes(), std.sizes());
  values = {mean.expand(sizes), std.expand(sizes)};
  return plan_samples(plan, mean, sizes);
}

bool random_floating(OutputPlan& plan, const Tensor& self) {
  return floating(self) && in_place(plan, self);
}

bool uniform(OutputPlan& plan, const Tensor& self, double from, double to) {
  const double most = largest_of(self.scalar_type());
  return from >= -most && from <= to && to <= most && to - from <= most &&
         random_floating(plan, self);
}

bool random_integers(OutputPlan& plan, const Tensor& self, int64_t from,
                     std::optional<int64_t> to) {
  // Without an upper bound, torch treats the wide unsigned dtypes differently from one another.
  if (!to && c10::isBarebonesUnsignedType(self.scalar_type())) return false;
  const Range range = exact_integers(self.scalar_type());
  const int64_t last = to && *to > range.low ? *to - 1 : to ? range.low : range.high;
  return from >= range.low && from <= last && last <= range.high && in_place(plan, self);
}

}  // namespace dl::core::plans
