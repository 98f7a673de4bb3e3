// cumprod, cummax, cummin and logcumsumexp as parallel prefix scans: in each of log2(n) rounds
// every element is combined with the one at twice the distance of the previous round. Source:
// Hillis and Steele, Data parallel algorithms (1986).
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/le.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include <vector>

#include "aten/kernel/composed.h"
#include "aten/layout/outputs.h"
#include "aten/layout/strides.h"

namespace dl::core::composed {
namespace {

// `combine(earlier, later)` combines adjacent elements; `state` has one or more tensors of equal
// shape.
template <typename Combine>
std::vector<at::Tensor> scan(std::vector<at::Tensor> state, int64_t dim, const Combine& combine) {
  const int64_t n = state[0].dim() == 0 ? 1 : state[0].size(dim);
  for (int64_t back = 1; back < n; back *= 2) {
    std::vector<at::Tensor> earlier, later;
    for (const at::Tensor& each : state) {
      earlier.push_back(each.narrow(dim, 0, n - back));
      later.push_back(each.narrow(dim, back, n - back));
    }
    const std::vector<at::Tensor> joined = combine(earlier, later);
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = at::cat({state[i].narrow(dim, 0, back), joined[i]}, dim);
  }
  return state;
}

at::Tensor cumprod(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype) {
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  const bool integral = at::isIntegralType(self.scalar_type(), true);
  const at::ScalarType type = dtype.value_or(integral ? at::kLong : self.scalar_type());
  const bool half = type == at::kHalf || type == at::kBFloat16;
  if (type == at::kBool || self.numel() == 0)
    return on_cpu<"cumprod", decltype(cumprod)>(self, dim, dtype);
  // Rounding errors accumulate, so half precision is computed in float.
  const at::Tensor product =
      scan({self.to(type).to(half ? at::kFloat : type, false, /*copy=*/true)}, along,
           [](const auto& earlier, const auto& later) {
             return std::vector<at::Tensor>{at::mul(earlier[0], later[0])};
           })[0];
  return arrange(product.to(type));
}

at::Tensor& cumprod_out(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> dtype,
                        at::Tensor& out) {
  if (dtype && *dtype != out.scalar_type())
    return on_cpu<"cumprod.out", decltype(cumprod_out)>(self, dim, dtype, out);
  return write_to(out, composed::cumprod(self, dim, out.scalar_type()));
}

// The last of several equal elements is chosen; NaN is preferred to every number.
template <typename Reaches>
void cumulative_extremum(const at::Tensor& self, at::Tensor& values, at::Tensor& indices,
                         int64_t dim, const Reaches& reaches) {
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  if (self.numel() == 0) return;
  std::vector<int64_t> line(self.dim(), 1);
  if (self.dim() > 0) line[along] = self.size(along);
  const at::Tensor places = at::arange(self.dim() == 0 ? 1 : self.size(along), indices.options())
                                .view(line)
                                .expand(self.sizes());
  const auto found = scan({self, places}, along, [&](const auto& earlier, const auto& later) {
    at::Tensor takes = reaches(later[0], earlier[0]);
    if (self.is_floating_point()) takes = at::logical_or(takes, at::ne(later[0], later[0]));
    return std::vector<at::Tensor>{at::where(takes, later[0], earlier[0]),
                                   at::where(takes, later[1], earlier[1])};
  });
  write_to(values, found[0]);
  write_to(indices, found[1]);
}

void cummax_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices, int64_t dim) {
  cumulative_extremum(self, values, indices, dim,
                      [](const at::Tensor& a, const at::Tensor& b) { return at::ge(a, b); });
}

void cummin_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices, int64_t dim) {
  cumulative_extremum(self, values, indices, dim,
                      [](const at::Tensor& a, const at::Tensor& b) { return at::le(a, b); });
}

// log(exp(a) + exp(b)); if both are the same infinity, the result is that infinity.
at::Tensor log_add(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor high = at::maximum(a, b), low = at::minimum(a, b);
  const at::Tensor sum = at::add(high, at::log1p(at::exp(at::sub(low, high))));
  return at::where(at::logical_and(at::eq(high, low), at::ne(at::sub(high, low), 0)), high, sum);
}

at::Tensor logcumsumexp(const at::Tensor& self, int64_t dim) {
  const int64_t along = at::maybe_wrap_dim(dim, self.dim());
  if (!self.is_floating_point() || self.numel() == 0)
    return on_cpu<"_logcumsumexp", decltype(logcumsumexp)>(self, dim);
  const bool half = self.scalar_type() == at::kHalf || self.scalar_type() == at::kBFloat16;
  const at::Tensor wide = self.to(half ? at::kFloat : self.scalar_type(), false, /*copy=*/true);
  return scan({wide}, along,
              [](const auto& earlier, const auto& later) {
                return std::vector<at::Tensor>{log_add(earlier[0], later[0])};
              })[0]
      .to(self.scalar_type());
}

at::Tensor& logcumsumexp_out(const at::Tensor& self, int64_t dim, at::Tensor& out) {
  return write_to(out, composed::logcumsumexp(self, dim));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("cumprod", cumprod);
  DL_COMPOSED("cumprod.out", cumprod_out);
  DL_COMPOSED("_cummax_helper", cummax_helper);
  DL_COMPOSED("_cummin_helper", cummin_helper);
  DL_COMPOSED("_logcumsumexp", logcumsumexp);
  DL_COMPOSED("_logcumsumexp.out", logcumsumexp_out);
}

}  // namespace dl::core::composed
