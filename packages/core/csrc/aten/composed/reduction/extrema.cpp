// amin over lists of dimensions, and aminmax.
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>

#include <tuple>
#include <vector>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

// Several reduced dimensions are moved to the end and flattened.
at::Tensor amin(const at::Tensor& self, at::IntArrayRef dims, bool keepdim) {
  if (!plans::is_real(self) || self.numel() == 0)
    return on_cpu<"amin", decltype(amin)>(self, dims, keepdim);
  const auto reduced =
      dims.empty() ? at::dim_list_to_bitset({}, 0).set() : at::dim_list_to_bitset(dims, self.dim());
  std::vector<int64_t> order, shape, last;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (reduced[i]) {
      last.push_back(i);
      if (keepdim) shape.push_back(1);
    } else {
      order.push_back(i);
      shape.push_back(self.size(i));
    }
  }
  if (order.empty()) return at::min(self).view(shape);
  if (last.size() == 1) return std::get<0>(at::min(self, last[0], keepdim));
  const auto kept = static_cast<int64_t>(order.size());
  order.insert(order.end(), last.begin(), last.end());
  const at::Tensor joined = self.permute(order).flatten(kept);
  return std::get<0>(at::min(joined, kept, false)).view(shape);
}

at::Tensor& amin_out(const at::Tensor& self, at::IntArrayRef dims, bool keepdim, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "Expected the dtype for input and out to match, but got ", self.scalar_type(),
              " for input's dtype and ", out.scalar_type(), " for out's dtype.");
  return write_to(out, composed::amin(self, dims, keepdim));
}

using Pair = std::tuple<at::Tensor, at::Tensor>;

Pair aminmax(const at::Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (!plans::is_real(self) || self.numel() == 0)
    return on_cpu<"aminmax", decltype(aminmax)>(self, dim, keepdim);
  if (dim) {
    const int64_t along = at::maybe_wrap_dim(*dim, self.dim());
    return {at::amin(self, along, keepdim), at::amax(self, along, keepdim)};
  }
  return {at::amin(self, {}, keepdim), at::amax(self, {}, keepdim)};
}

std::tuple<at::Tensor&, at::Tensor&> aminmax_out(const at::Tensor& self, std::optional<int64_t> dim,
                                                 bool keepdim, at::Tensor& min, at::Tensor& max) {
  for (const at::Tensor* out : {&min, &max}) {
    TORCH_CHECK(out->dtype() == self.dtype(), "Expected out tensor to have dtype ", self.dtype(),
                ", but got ", out->dtype(), " instead");
  }
  const Pair found = composed::aminmax(self, dim, keepdim);
  write_to(min, std::get<0>(found));
  write_to(max, std::get<1>(found));
  return {min, max};
}

Pair aminmax_all(const at::Tensor& self) { return composed::aminmax(self, std::nullopt, false); }

Pair aminmax_along(const at::Tensor& self, int64_t dim, bool keepdim) {
  return composed::aminmax(self, dim, keepdim);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("amin", amin);
  DL_COMPOSED("amin.out", amin_out);
  DL_COMPOSED("aminmax", aminmax);
  DL_COMPOSED("aminmax.out", aminmax_out);
  DL_COMPOSED("_aminmax", aminmax_all);
  DL_COMPOSED("_aminmax.dim", aminmax_along);
}

}  // namespace dl::core::composed
