#include "aten/plans/scatter.h"

#include "aten/plans/checks.h"
#include "aten/plans/fill.h"
#include "aten/plans/stored_scalar.h"

namespace dl::core::plans {
namespace {

int64_t extent(const Tensor& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

bool set_dim(AxisValues& values, const Tensor& self, int64_t dim) {
  const int64_t count = count_of(self);
  if (dim < -count || dim >= count) return false;
  values.dim = dim < 0 ? dim + count : dim;
  return true;
}

bool scatter_target(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    const Tensor& index) {
  if (!index_dim(plan, values, self, dim, index) || count_of(self) != count_of(index)) return false;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != values.dim && extent(index, i) > self.size(i)) return false;
  }
  return true;
}

bool known(std::string_view reduce) { return reduce == "add" || reduce == "multiply"; }

}  // namespace

bool index_dim(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
               const Tensor& index) {
  return in_place(plan, self) && on_same_device(self, index) && is_index(index) &&
         apart(self, index) && set_dim(values, self, dim);
}

bool scatter(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
             const Tensor& index, const Tensor& src) {
  if (!scatter_target(plan, values, self, dim, index) || !alike(self, src) || !apart(self, src))
    return false;
  if (count_of(src) != count_of(index)) return false;
  for (int64_t i = 0; i < count_of(index); ++i) {
    if (extent(index, i) > extent(src, i)) return false;
  }
  return true;
}

bool scatter_reduce(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    const Tensor& index, const Tensor& src, std::string_view reduce) {
  return known(reduce) && scatter(plan, values, self, dim, index, src);
}

bool scatter_scalar(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                    const Tensor& index, const at::Scalar& value) {
  return holds(self.scalar_type(), value) && scatter_target(plan, values, self, dim, index);
}

bool scatter_scalar_reduce(OutputPlan& plan, AxisValues& values, const Tensor& self, int64_t dim,
                           const Tensor& index, const at::Scalar& value, std::string_view reduce) {
  return known(reduce) && scatter_scalar(plan, values, self, dim, index, value);
}

}  // namespace dl::core::plans
