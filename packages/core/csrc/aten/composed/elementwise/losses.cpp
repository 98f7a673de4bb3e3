// Losses that the contract does not have.
#include <ATen/core/Reduction.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>

#include "aten/composed/elementwise_forms.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

Tensor apply_reduction(const Tensor& losses, int64_t reduction) {
  if (reduction == at::Reduction::Mean) return losses.mean();
  return reduction == at::Reduction::Sum ? losses.sum() : losses;
}

Tensor huber(const Tensor& input, const Tensor& target, double delta) {
  const Tensor d = input.sub(target).abs_();
  const Tensor linear = d.sub(0.5 * delta).mul_(delta);
  return at::where(d.lt(delta), d.mul(d).mul_(0.5), linear);
}
using Huber = Binary<huber, Promotion::same, "huber_loss">;

void check_delta(double delta) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  check_delta(delta);
  // Torch's losses have the dtype of the input, whatever the dtype of the target.
  const Tensor given = self.dtype() == target.dtype() ? Tensor() : at::empty({0}, self.options());
  return apply_reduction(Huber::run(given, self, target, delta), reduction);
}
Tensor& huber_loss_out(const Tensor& self, const Tensor& target, int64_t reduction, double delta,
                       Tensor& out) {
  check_delta(delta);
  if (reduction != at::Reduction::None)
    return write_to(out, huber_loss(self, target, reduction, delta));
  Huber::run(out, self, target, delta);
  return out;
}
Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                           int64_t reduction, double delta) {
  const auto wide = is_half(self.scalar_type()) ? at::kFloat : self.scalar_type();
  const double share =
      reduction == at::Reduction::Mean ? 1.0 / static_cast<double>(self.numel()) : 1.0;
  const Tensor slope = self.to(wide).sub(target).clamp_(-delta, delta).mul_(share);
  return slope.mul_(grad_output).to(self.scalar_type());
}
Tensor& huber_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                int64_t reduction, double delta, Tensor& grad_input) {
  return write_to(grad_input, huber_loss_backward(grad_output, self, target, reduction, delta));
}

// Operands of multilabel_margin_loss. Targets before the first negative one are class indices.
struct Labels {
  Tensor input;      // [N, C]
  Tensor classes;    // [N, D, C]: true where target d is class c
  Tensor is_target;  // [N, C]
  Tensor violation;  // [N, D, C]: 1 - input[target d] + input[c] for pairs that count, otherwise 0
  bool batched;
};

Labels labels_of(const Tensor& self, const Tensor& target) {
  const bool batched = self.dim() == 2;
  TORCH_CHECK(target.scalar_type() == at::kLong,
              "multilabel_margin_loss: expected scalar type Long but found ", target.scalar_type(),
              " for target; convert it with target.long()");
  TORCH_CHECK(self.dim() <= 2 && (self.numel() > 0 || (batched && self.size(1) > 0)),
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              self.sizes());
  const bool fits = batched ? target.sizes() == self.sizes()
                            : target.dim() <= 1 && target.numel() == self.numel();
  TORCH_CHECK(fits, "inconsistent target size: ", target.sizes(),
              " for input of size: ", self.sizes());
  const int64_t classes = batched ? self.size(1) : self.numel();
  const Tensor input = self.reshape({-1, classes}), labels = target.reshape({-1, classes});
  if (labels.numel() > 0) {
    TORCH_CHECK(labels.amax().item<int64_t>() < classes, "argument #2 'target' is out of range");
    TORCH_CHECK(labels.amin().item<int64_t>() >= -1, "argument #2 'target' is out of range");
  }
  const Tensor valid = labels.lt(0).to(at::kLong).cumsum(1).eq(0);
  const Tensor numbers = at::ones({classes}, labels.options()).cumsum(0).sub_(1);
  const Tensor named = labels.unsqueeze(2).eq(numbers).logical_and_(valid.unsqueeze(2));
  const Tensor is_target = named.amax(1);
  const Tensor own = input.gather(1, labels.clamp_min(0));
  const Tensor margin = input.unsqueeze(1).sub(own.unsqueeze(2)).add_(1);
  const Tensor counts = valid.unsqueeze(2).logical_and(is_target.logical_not().unsqueeze(1));
  // As in torch's kernels, a margin that is NaN or does not count contributes nothing.
  const Tensor violation = at::where(counts.logical_and(margin.gt(0)), margin, 0);
  return {input, named, is_target, violation, batched};
}

std::tuple<Tensor, Tensor> multilabel_forward(const Tensor& self, const Tensor& target,
                                              int64_t reduction) {
  const Labels labels = labels_of(self, target);
  const auto classes = static_cast<double>(labels.input.size(1));
  const Tensor losses = labels.violation.sum(at::IntArrayRef{1, 2}).div_(classes);
  const Tensor shaped = labels.batched ? losses : losses.view(at::IntArrayRef());
  return {apply_reduction(shaped, reduction),
          labels.is_target.to(self.scalar_type()).view(target.sizes())};
}
std::tuple<Tensor&, Tensor&> multilabel_forward_out(const Tensor& self, const Tensor& target,
                                                    int64_t reduction, Tensor& output,
                                                    Tensor& is_target) {
  const auto [loss, flags] = multilabel_forward(self, target, reduction);
  write_to(output, loss);
  write_to(is_target, flags);
  return {output, is_target};
}

Tensor multilabel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                           int64_t reduction, const Tensor&) {
  const Labels labels = labels_of(self, target);
  const Tensor violated = labels.violation.gt(0).to(self.scalar_type());
  const Tensor pushed = labels.classes.to(self.scalar_type()).mul_(violated.sum(2, true)).sum(1);
  const auto classes = static_cast<double>(labels.input.size(1));
  const double share = reduction == at::Reduction::Mean
                           ? classes * static_cast<double>(labels.input.size(0))
                           : classes;
  const Tensor grad =
      reduction == at::Reduction::None && labels.batched ? grad_output.unsqueeze(1) : grad_output;
  return violated.sum(1).sub_(pushed).div_(share).mul_(grad).view(self.sizes());
}
Tensor& multilabel_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                int64_t reduction, const Tensor& is_target, Tensor& grad_input) {
  return write_to(grad_input, multilabel_backward(grad_output, self, target, reduction, is_target));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("huber_loss", huber_loss);
  DL_COMPOSED("huber_loss.out", huber_loss_out);
  DL_COMPOSED("huber_loss_backward", huber_loss_backward);
  DL_COMPOSED("huber_loss_backward.out", huber_loss_backward_out);
  DL_COMPOSED("multilabel_margin_loss_forward", multilabel_forward);
  DL_COMPOSED("multilabel_margin_loss_forward.output", multilabel_forward_out);
  DL_COMPOSED("multilabel_margin_loss_backward", multilabel_backward);
  DL_COMPOSED("multilabel_margin_loss_backward.grad_input", multilabel_backward_out);
}

}  // namespace dl::core::composed
