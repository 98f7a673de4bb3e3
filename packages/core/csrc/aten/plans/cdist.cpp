#include "aten/plans/cdist.h"

#include <algorithm>
#include <optional>

#include "aten/plans/checks.h"

namespace dl::core::plans {

namespace {

// Leading dimensions of both operands, broadcast.
std::optional<DimVector> batch_of(const Tensor& x1, const Tensor& x2) {
  if (x1.dim() < 2 || x2.dim() < 2) return std::nullopt;
  const int64_t rank = std::max(x1.dim(), x2.dim());
  DimVector sizes;
  for (int64_t i = 0; i < rank - 2; ++i) {
    const int64_t a = i - (rank - x1.dim()), b = i - (rank - x2.dim());
    const int64_t left = a < 0 ? 1 : x1.size(a), right = b < 0 ? 1 : x2.size(b);
    if (left != right && left != 1 && right != 1) return std::nullopt;
    sizes.push_back(left == 1 ? right : left);
  }
  return sizes;
}

}  // namespace

bool distances(OutputPlan& plan, const Tensor& x1, const Tensor& x2, double p) {
  if (!alike(x1, x2) || !floating(x1) || !(p >= 0)) return false;
  auto sizes = batch_of(x1, x2);
  if (!sizes || x1.size(-1) != x2.size(-1)) return false;
  sizes->push_back(x1.size(-2));
  sizes->push_back(x2.size(-2));
  plan.start(x1);
  plan.output(*sizes, x1.scalar_type());
  return true;
}

bool distances_backward(OutputPlan& plan, CdistValues& values, const Tensor& grad, const Tensor& x1,
                        const Tensor& x2, const Tensor& cdist) {
  if (!alike(x1, grad, x2, cdist) || !floating(x1) || grad.sizes() != cdist.sizes()) return false;
  auto sizes = batch_of(x1, x2);
  if (!sizes) return false;
  // As in torch's kernel, the gradient has the broadcast batch, and autograd sums over it.
  sizes->push_back(x1.size(-2));
  sizes->push_back(x1.size(-1));
  values.x1 = x1.expand(*sizes);
  plan.start(x1);
  plan.output(*sizes, x1.scalar_type());
  return true;
}

}  // namespace dl::core::plans
