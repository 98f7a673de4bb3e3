// pdist: distances between the rows of a matrix, from cdist, which computes each distance twice.
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/triu_indices.h>
#include <ATen/ops/zeros.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

// The mode of cdist that does not use matrix products, whose results cancel for close rows.
constexpr int64_t kByDifferences = 2;

bool takes(const Tensor& self, double p) {
  return (self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble) &&
         self.dim() == 2 && self.size(0) > 1 && self.size(1) > 0 && self.is_contiguous() && p >= 0;
}

// Flat indices of the pairs i < j in a row-major square matrix.
Tensor places_of_pairs(const Tensor& self) {
  const int64_t n = self.size(0);
  const Tensor pairs = at::triu_indices(n, n, 1, self.options().dtype(at::kLong));
  return pairs.select(0, 0).mul(n).add(pairs.select(0, 1));
}

Tensor pdist_forward(const Tensor& self, double p) {
  if (!takes(self, p)) return on_cpu<"_pdist_forward", decltype(pdist_forward)>(self, p);
  const Tensor all = at::_cdist_forward(self, self, p, kByDifferences);
  return all.view(-1).index_select(0, places_of_pairs(self));
}

Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  const int64_t n = self.dim() == 2 ? self.size(0) : 0;
  if (!takes(self, p) || grad.dim() != 1 || grad.size(0) != n * (n - 1) / 2 ||
      pdist.sizes() != grad.sizes() || grad.dtype() != self.dtype() ||
      pdist.dtype() != self.dtype())
    return on_cpu<"_pdist_backward", decltype(pdist_backward)>(grad, self, p, pdist);
  const Tensor places = places_of_pairs(self);
  const auto both_ways = [&](const Tensor& pairs) {
    Tensor matrix = at::zeros({n * n}, self.options());
    matrix.scatter_(0, places, pairs.contiguous());
    matrix = matrix.view({n, n});
    return matrix.add(matrix.mT());
  };
  return at::_cdist_backward(both_ways(grad), self, self, p, both_ways(pdist));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_pdist_forward", pdist_forward);
  DL_COMPOSED("_pdist_backward", pdist_backward);
}

}  // namespace dl::core::composed
