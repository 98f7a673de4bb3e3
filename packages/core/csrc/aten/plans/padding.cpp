#include "aten/plans/padding.h"

#include <algorithm>

#include "aten/layout/checked_sizes.h"
#include "aten/plans/checks.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::plans {

bool pad(OutputPlan& plan, const Tensor& self, at::IntArrayRef padding, int64_t spatial,
         PadKind kind) {
  const int64_t ndim = self.dim();
  if (!alike(self) || static_cast<int64_t>(padding.size()) != 2 * spatial) return false;
  if (self.scalar_type() == at::kBool) return false;
  if (ndim != spatial + 1 && ndim != spatial + 2) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t k = 2 * (ndim - 1 - i), n = self.size(i);
    const bool batch = ndim == spatial + 2 && i == 0;
    if (n == 0 && !batch) return false;
    if (k >= 2 * spatial) continue;
    const int64_t before = padding[k], after = padding[k + 1];
    if (kind == PadKind::reflect && (before >= n || after >= n)) return false;
    sizes[i] = checked_sum({n, before, after}, "padding: the padded size");
    if (sizes[i] < 1) return false;
  }
  plan.start(self);
  plan.output(
      sizes, self.scalar_type(),
      ndim == 4 && spatial == 2 ? self.suggest_memory_format() : c10::MemoryFormat::Contiguous);
  return true;
}

bool pad_constant(OutputPlan& plan, const Tensor& self, at::IntArrayRef pad,
                  const at::Scalar& value) {
  const int64_t ndim = self.dim();
  if (!alike(self) || pad.size() % 2 != 0 || static_cast<int64_t>(pad.size()) > 2 * ndim)
    return false;
  if (!stored_value(self.scalar_type(), value)) return false;
  // In this case torch clones a slice, in the slice's memory order.
  const bool cuts = std::all_of(pad.begin(), pad.end(), [](int64_t width) { return width <= 0; });
  if (cuts) return false;
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  for (size_t k = 0; k < pad.size(); k += 2) {
    int64_t& size = sizes[ndim - 1 - static_cast<int64_t>(k / 2)];
    // torch crops at both ends before it pads at either.
    const int64_t before = std::min<int64_t>(pad[k], 0), after = std::min<int64_t>(pad[k + 1], 0);
    if (checked_sum({size, before, after}, "padding: the remaining size") < 0) return false;
    size = checked_sum({size, pad[k], pad[k + 1]}, "padding: the padded size");
  }
  plan.start(self);
  plan.output(sizes, self.scalar_type(), self.suggest_memory_format());
  return true;
}

}  // namespace dl::core::plans
