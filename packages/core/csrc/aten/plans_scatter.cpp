#include "aten/plans_scatter.h"

#include "aten/plan_checks.h"

namespace dl::core::plans {
namespace {

// A tensor without dimensions counts as one with a single element.
int64_t dims_of(const Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.dim(); }

int64_t extent(const Tensor& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

bool set_dim(DirectPlan& plan, const Tensor& self, int64_t dim) {
  const int64_t count = dims_of(self);
  if (dim < -count || dim >= count) return false;
  plan.set_dim(dim < 0 ? dim + count : dim);
  return true;
}

// What is written must not be read as well: torch refuses it.
bool apart(const Tensor& written, const Tensor& read) { return !written.is_alias_of(read); }

bool indexed(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index) {
  return written(plan, self) && on_same_device(self, index) && is_index(index) &&
         apart(self, index) && set_dim(plan, self, dim);
}

bool scatter_target(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index) {
  if (!indexed(plan, self, dim, index) || dims_of(self) != dims_of(index)) return false;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != plan.dim() && extent(index, i) > self.size(i)) return false;
  }
  return true;
}

bool known(std::string_view reduce) { return reduce == "add" || reduce == "multiply"; }

}  // namespace

bool scattered(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src) {
  if (!scatter_target(plan, self, dim, index) || !alike(self, src) || !apart(self, src))
    return false;
  if (dims_of(src) != dims_of(index)) return false;
  for (int64_t i = 0; i < dims_of(index); ++i) {
    if (extent(index, i) > extent(src, i)) return false;
  }
  return true;
}

bool scattered_by(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& src, std::string_view reduce) {
  return known(reduce) && scattered(plan, self, dim, index, src);
}

bool scattered_number(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                      const at::Scalar& value) {
  return holds(self.scalar_type(), value) && scatter_target(plan, self, dim, index);
}

bool scattered_number_by(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                         const at::Scalar& value, std::string_view reduce) {
  return known(reduce) && scattered_number(plan, self, dim, index, value);
}

bool slices_filled(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                   const at::Scalar& value) {
  return holds(self.scalar_type(), value) && index.dim() <= 1 && index.scalar_type() == at::kLong &&
         indexed(plan, self, dim, index);
}

bool slices_filled_from(DirectPlan& plan, const Tensor& self, int64_t dim, const Tensor& index,
                        const Tensor& value) {
  return alike(self, value) && value.dim() == 0 && index.dim() <= 1 &&
         index.scalar_type() == at::kLong && indexed(plan, self, dim, index);
}

bool masked_fill_from(DirectPlan& plan, const Tensor& self, const Tensor& mask,
                      const Tensor& value) {
  return alike(self, value) && value.dim() == 0 && apart(self, value) &&
         masked_fill(plan, self, mask, at::Scalar(0));
}

bool rows_scaled(DirectPlan& plan, const Tensor& self, const Tensor& indices) {
  return floating(self) && self.dim() == 2 && on_same_device(self, indices) && is_index(indices) &&
         written(plan, self);
}

}  // namespace dl::core::plans
