// kthvalue, median, nanmedian and mode, from topk and sort.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/max.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;
using References = std::tuple<at::Tensor&, at::Tensor&>;

References write_pair(const Pair& found, at::Tensor& values, at::Tensor& indices) {
  write_to(values, std::get<0>(found));
  write_to(indices, std::get<1>(found));
  return {values, indices};
}

// torch supports booleans for sorting only.
bool has_ranks(const at::Tensor& self) {
  return plans::is_real(self) && self.scalar_type() != at::kBool && self.numel() > 0;
}

// Returns true if rows along `dim` have elements and the outputs have the right dtypes.
bool has_rows(const at::Tensor& self, int64_t dim, const at::Tensor& values,
              const at::Tensor& indices) {
  return has_ranks(self) && dim >= -std::max<int64_t>(self.dim(), 1) &&
         dim < std::max<int64_t>(self.dim(), 1) && values.scalar_type() == self.scalar_type() &&
         indices.scalar_type() == at::kLong && values.device() == self.device() &&
         indices.device() == self.device();
}

Pair without_dim(const Pair& found, int64_t dim, bool keepdim) {
  const auto& [values, indices] = found;
  if (keepdim || values.dim() == 0) return found;
  return {values.squeeze(dim), indices.squeeze(dim)};
}

// The k-th smallest element along a dimension, computed as the maximum of the k smallest, which
// need not be sorted. The dimension is kept.
Pair smallest(const at::Tensor& self, int64_t k, int64_t dim) {
  const auto [values, indices] = at::topk(self, k, dim, /*largest=*/false, /*sorted=*/false);
  if (self.dim() == 0) return {values, indices};
  const auto [value, at] = at::max(values, dim, /*keepdim=*/true);
  return {value, at::gather(indices, dim, at)};
}

References kthvalue_out(const at::Tensor& self, int64_t k, int64_t dim, bool keepdim,
                        at::Tensor& values, at::Tensor& indices) {
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  const int64_t n = self.dim() == 0 ? 1 : self.size(along);
  if (!has_rows(self, dim, values, indices) || k < 1 || k > n) {
    return on_cpu<"kthvalue.values", decltype(kthvalue_out)>(self, k, dim, keepdim, values,
                                                             indices);
  }
  return write_pair(without_dim(smallest(self, k, along), along, keepdim), values, indices);
}

// The lower of the two middle elements; if a row contains NaN, its first NaN.
Pair median_along(const at::Tensor& self, int64_t dim) {
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  const Pair middle = smallest(self, (n + 1) / 2, dim);
  if (!self.is_floating_point()) return middle;
  const auto [largest, at] = at::max(self, dim, true);  // NaN if there is one
  const at::Tensor nan = at::ne(largest, largest);
  return {at::where(nan, largest, std::get<0>(middle)), at::where(nan, at, std::get<1>(middle))};
}

// The median of the elements that are not NaN; NaN sorts to the end.
Pair nanmedian_along(const at::Tensor& self, int64_t dim) {
  if (!self.is_floating_point()) return median_along(self, dim);
  const auto [values, indices] = at::sort(self, dim);
  const at::Tensor count = at::sum(at::eq(self, self), at::IntArrayRef(dim), true, at::kLong);
  if (self.dim() == 0) return {values, indices};
  const at::Tensor rank = at::clamp_min(at::floor_divide(at::sub(count, 1), 2), 0);
  return {at::gather(values, dim, rank), at::gather(indices, dim, rank)};
}

template <Text name, typename Along>
References median_out(const at::Tensor& self, int64_t dim, bool keepdim, at::Tensor& values,
                      at::Tensor& indices, const Along& along) {
  if (!has_rows(self, dim, values, indices)) {
    using Signature = References(const at::Tensor&, int64_t, bool, at::Tensor&, at::Tensor&);
    return on_cpu<overload_name(name, Text("dim_values")), Signature>(self, dim, keepdim, values,
                                                                      indices);
  }
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  return write_pair(without_dim(along(self, wrapped), wrapped, keepdim), values, indices);
}

References median_dim_out(const at::Tensor& self, int64_t dim, bool keepdim, at::Tensor& values,
                          at::Tensor& indices) {
  if (wants_fixed_order(self)) alert_open_order("median with indices");
  return median_out<"median">(self, dim, keepdim, values, indices, median_along);
}

References nanmedian_dim_out(const at::Tensor& self, int64_t dim, bool keepdim, at::Tensor& values,
                             at::Tensor& indices) {
  if (wants_fixed_order(self)) alert_open_order("nanmedian with indices");
  return median_out<"nanmedian">(self, dim, keepdim, values, indices, nanmedian_along);
}

at::Tensor median(const at::Tensor& self) {
  if (!has_ranks(self)) return on_cpu<"median", decltype(median)>(self);
  return std::get<0>(median_along(self.reshape({-1}), 0)).view(at::IntArrayRef{});
}

at::Tensor nanmedian(const at::Tensor& self) {
  if (!has_ranks(self)) return on_cpu<"nanmedian", decltype(nanmedian)>(self);
  return std::get<0>(nanmedian_along(self.reshape({-1}), 0)).view(at::IntArrayRef{});
}

// Finds the longest run in the sorted row (the first, if several are equally long) and its last
// position. A run ends if the next element differs; its length is the distance to the previous end.
Pair mode(const at::Tensor& self, int64_t dim, bool keepdim) {
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  if (!plans::is_real(self) || self.numel() == 0)
    return on_cpu<"mode", decltype(mode)>(self, dim, keepdim);
  if (self.dim() == 0) return {self.clone(), at::zeros({}, self.options().dtype(at::kLong))};
  const int64_t n = self.size(along);
  const auto [values, indices] = at::sort(self, /*stable=*/true, along, /*descending=*/false);
  std::vector<int64_t> edge(self.sizes().begin(), self.sizes().end()), line(self.dim(), 1);
  edge[along] = 1;
  line[along] = n;
  const auto options = self.options().dtype(at::kLong);
  const at::Tensor differs =
      at::cat({at::full(edge, true, options.dtype(at::kBool)),
               at::ne(values.narrow(along, 1, n - 1), values.narrow(along, 0, n - 1))},
              along);
  const at::Tensor places = at::arange(n, options).view(line);
  const at::Tensor start =
      std::get<0>(at::cummax(at::where(differs, places, at::zeros({}, options)), along));
  const at::Tensor last = at::argmax(at::sub(places, start), along, true);
  return without_dim({at::gather(values, along, last), at::gather(indices, along, last)}, along,
                     keepdim);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("kthvalue.values", kthvalue_out);
  DL_COMPOSED("median", median);
  DL_COMPOSED("median.dim_values", median_dim_out);
  DL_COMPOSED("nanmedian", nanmedian);
  DL_COMPOSED("nanmedian.dim_values", nanmedian_dim_out);
  DL_COMPOSED("mode", mode);
}

}  // namespace dl::core::composed
