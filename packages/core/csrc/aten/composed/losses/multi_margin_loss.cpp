// multi_margin_loss: for each sample, the mean over all classes of max(0, margin - x[target] +
// x)^p, without the target class.
#include <ATen/core/Reduction.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/multi_margin_loss.h>
#include <ATen/ops/multi_margin_loss_backward.h>
#include <ATen/ops/where.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

// There must be at least one class; torch raises the error for mismatched shapes. For an empty
// batch torch's CPU kernel returns uninitialized memory; here the mean is NaN, as for other losses.
bool takes(const Tensor& self, const Tensor& target, const Scalar& p, const OptionalTensor& weight,
           int64_t reduction) {
  if ((self.scalar_type() != at::kFloat && self.scalar_type() != at::kDouble) || self.dim() < 1 ||
      self.dim() > 2 || self.size(-1) == 0 || target.device() != self.device() ||
      target.scalar_type() != at::kLong || (!p.equal(1) && !p.equal(2)) || reduction < 0 ||
      reduction > 2)
    return false;
  if (weight && weight->defined() &&
      (weight->dim() != 1 || weight->size(0) != self.size(-1) || weight->dtype() != self.dtype() ||
       weight->device() != self.device()))
    return false;
  const int64_t samples = self.dim() == 2 ? self.size(0) : 1;
  return target.numel() == samples && target.dim() <= 1 && (self.dim() == 1 || target.dim() == 1);
}

struct Margins {
  Margins(const Tensor& self, const Tensor& target, const Scalar& margin)
      : classes(self.size(-1)), index(target.reshape({-1, 1})) {
    const Tensor input = self.reshape({-1, classes});
    const Tensor excess = at::gather(input, 1, index).neg().add(margin).add(input);
    // As in torch's kernels, a NaN margin adds nothing.
    violation = at::where(excess.gt(0), excess, 0);
    violation.scatter_(1, index, 0);
  }
  // Returns `each` multiplied by the weight of each sample, [N, 1].
  Tensor apply_weight(const Tensor& each, const OptionalTensor& weight) const {
    const Tensor mean = each.div(classes);
    return weight && weight->defined()
               ? mean.mul(weight->index_select(0, index.view(-1)).view({-1, 1}))
               : mean;
  }
  int64_t classes;
  Tensor index;      // [N, 1]
  Tensor violation;  // [N, C]
};

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const OptionalTensor& weight, int64_t reduction) {
  if (!takes(self, target, p, weight, reduction))
    return on_cpu<"multi_margin_loss", decltype(multi_margin_loss)>(self, target, p, margin, weight,
                                                                    reduction);
  const Margins margins(self, target, margin);
  const Tensor powers = p.equal(2) ? margins.violation.mul(margins.violation) : margins.violation;
  const Tensor losses = margins.apply_weight(powers, weight).sum(1);
  if (reduction == at::Reduction::None) return losses.view(target.sizes());
  return reduction == at::Reduction::Mean ? losses.mean() : losses.sum();
}

Tensor& multi_margin_loss_out(const Tensor& self, const Tensor& target, const Scalar& p,
                              const Scalar& margin, const OptionalTensor& weight, int64_t reduction,
                              Tensor& out) {
  return write_to(out, at::multi_margin_loss(self, target, p, margin, weight, reduction),
                  OutputDtype::same);
}

Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& target, const Scalar& p, const Scalar& margin,
                                  const OptionalTensor& weight, int64_t reduction) {
  const bool of_each = reduction == at::Reduction::None;
  if (!takes(self, target, p, weight, reduction) || grad_output.dtype() != self.dtype() ||
      grad_output.device() != self.device() ||
      (of_each ? grad_output.sizes() != target.sizes() : grad_output.numel() != 1))
    return on_cpu<"multi_margin_loss_backward", decltype(multi_margin_loss_backward)>(
        grad_output, self, target, p, margin, weight, reduction);
  const Margins margins(self, target, margin);
  const Tensor slope =
      p.equal(2) ? margins.violation.mul(2) : margins.violation.gt(0).to(self.scalar_type());
  Tensor grads = margins.apply_weight(slope, weight);
  grads.scatter_(1, margins.index, grads.sum(1, /*keepdim=*/true).neg());
  if (reduction == at::Reduction::Mean) grads = grads.div(grads.size(0));
  return grads.mul(of_each ? grad_output.reshape({-1, 1}) : grad_output.reshape({}))
      .view(self.sizes());
}

Tensor& multi_margin_loss_backward_out(const Tensor& grad_output, const Tensor& self,
                                       const Tensor& target, const Scalar& p, const Scalar& margin,
                                       const OptionalTensor& weight, int64_t reduction,
                                       Tensor& grad_input) {
  const Tensor found =
      at::multi_margin_loss_backward(grad_output, self, target, p, margin, weight, reduction);
  return write_to(grad_input, found, OutputDtype::same);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("multi_margin_loss", multi_margin_loss);
  DL_COMPOSED("multi_margin_loss.out", multi_margin_loss_out);
  DL_COMPOSED("multi_margin_loss_backward", multi_margin_loss_backward);
  DL_COMPOSED("multi_margin_loss_backward.grad_input", multi_margin_loss_backward_out);
}

}  // namespace dl::core::composed
