// Composite normalizations: the newer forms of batch norm, weight norm, renorm.
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

#include <limits>
#include <tuple>

#include "aten/composed/normalization/rms_norm.h"
#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"
#include "aten/layout/resize_output.h"
#include "aten/layout/strides.h"
#include "aten/plans/output_plan.h"

namespace dl::core::composed {
namespace {

// All dimensions except `dim`.
DimVector other_dims(const Tensor& tensor, int64_t dim) {
  DimVector dims;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (d != (dim < 0 ? dim + tensor.dim() : dim)) dims.push_back(d);
  }
  return dims;
}

Tensor widen(const Tensor& tensor) { return tensor.to(at::toOpMathType(tensor.scalar_type())); }

// The reserve is a buffer in which libraries keep data for the backward pass; here it is empty.
std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_with_update(
    const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
    Tensor& running_mean, Tensor& running_var, double momentum, double eps) {
  auto [out, mean, invstd] = at::native_batch_norm(input, weight, bias, running_mean, running_var,
                                                   /*training=*/true, momentum, eps);
  return {std::move(out), std::move(mean), std::move(invstd),
          at::empty({0}, input.options().dtype(at::kByte))};
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> batch_norm_with_update_out(
    const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
    Tensor& running_mean, Tensor& running_var, double momentum, double eps, Tensor& out,
    Tensor& save_mean, Tensor& save_invstd, Tensor& reserve) {
  at::native_batch_norm_out(out, save_mean, save_invstd, input, weight, bias, running_mean,
                            running_var, /*training=*/true, momentum, eps);
  return {out, save_mean, save_invstd, reserve};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const Tensor& weight,
    const OptionalTensor& running_mean, const OptionalTensor& running_var,
    const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool update, double eps,
    std::array<bool, 3> mask, const Tensor&) {
  return at::native_batch_norm_backward(grad_out, input, weight, running_mean, running_var,
                                        save_mean, save_invstd, update, eps, mask);
}

void move_towards(const OptionalTensor& running, const Tensor& fresh, double momentum) {
  if (!running || !running->defined()) return;
  running->mul_(1 - momentum).add_(fresh.to(running->scalar_type()), momentum);
}

// Returns the mean and the biased variance; the running variance is updated with the unbiased one.
std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input,
                                                   const OptionalTensor& running_mean,
                                                   const OptionalTensor& running_var,
                                                   double momentum) {
  const DimVector dims = other_dims(input, 1);
  const Tensor wide = widen(input);
  const Tensor mean = at::mean(wide, dims, /*keepdim=*/true);
  const Tensor centered = wide - mean;
  const Tensor variance = at::mean(centered * centered, dims);
  const double count = static_cast<double>(input.numel() / std::max<int64_t>(input.size(1), 1));
  const Tensor flat = mean.reshape({input.size(1)});
  move_towards(running_mean, flat, momentum);
  move_towards(running_var, variance * (count / (count - 1)), momentum);
  const bool mixed =
      running_mean && running_mean->defined() && running_mean->scalar_type() != input.scalar_type();
  const at::ScalarType type = mixed ? running_mean->scalar_type() : input.scalar_type();
  return {flat.to(type), variance.to(type)};
}

// torch's kernel handles powers outside the range of float.
Tensor norms_of(const Tensor& wide, double p, at::IntArrayRef dims) {
  return at::linalg_vector_norm(wide, p, dims, /*keepdim=*/true);
}

// Source: Salimans and Kingma, Weight Normalization (2016).
std::tuple<Tensor, Tensor> weight_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  const Tensor wide = widen(v);
  const Tensor norms = norms_of(wide, 2, other_dims(v, dim));
  const Tensor w = wide * (widen(g) / norms);
  return {w.to(v.scalar_type()), norms};
}

std::tuple<Tensor, Tensor> weight_norm_backward(const Tensor& grad_w, const Tensor& v,
                                                const Tensor& g, const Tensor& norms, int64_t dim) {
  const Tensor grad = widen(grad_w), wide = widen(v), length = widen(norms);
  const Tensor unit = wide / length;
  const Tensor along = at::sum(grad * unit, other_dims(v, dim), /*keepdim=*/true);
  const Tensor grad_v = (grad - unit * along) * (widen(g) / length);
  return {grad_v.to(v.scalar_type()), along.to(g.scalar_type())};
}

// Returns true if torch's checks would pass; otherwise torch's own kernel raises the error.
bool renorm_fits(const Tensor& self, const at::Scalar& p, int64_t dim, const at::Scalar& maxnorm) {
  return at::isFloatingType(self.scalar_type()) && !p.isComplex() && !maxnorm.isComplex() &&
         p.toDouble() > 0 && maxnorm.toDouble() >= 0 && self.dim() > 1 && dim >= -self.dim() &&
         dim < self.dim() && self.numel() > 0;
}

Tensor renormalize(const Tensor& self, const at::Scalar& p, int64_t dim,
                   const at::Scalar& maxnorm) {
  const Tensor norms = norms_of(widen(self), p.toDouble(), other_dims(self, dim));
  // A limit beyond the dtype's range has no effect.
  const bool limited =
      norms.scalar_type() == at::kDouble || maxnorm.toDouble() <= std::numeric_limits<float>::max();
  const double limit = limited ? maxnorm.toDouble() : std::numeric_limits<double>::infinity();
  // torch's epsilon keeps the norm of the result below maxnorm.
  const Tensor factor = at::where(norms > limit, limit / (norms + 1e-7), 1.0);
  return at::mul(self, factor.to(self.scalar_type()));
}

Tensor renorm(const Tensor& self, const at::Scalar& p, int64_t dim, const at::Scalar& maxnorm) {
  if (renorm_fits(self, p, dim, maxnorm)) return arrange(renormalize(self, p, dim, maxnorm));
  return on_cpu<"renorm", Tensor(const Tensor&, const at::Scalar&, int64_t, const at::Scalar&)>(
      self, p, dim, maxnorm);
}

Tensor& renorm_in_place(Tensor& self, const at::Scalar& p, int64_t dim, const at::Scalar& maxnorm) {
  if (renorm_fits(self, p, dim, maxnorm)) return self.copy_(renormalize(self, p, dim, maxnorm));
  return on_cpu<"renorm_", Tensor&(Tensor&, const at::Scalar&, int64_t, const at::Scalar&)>(
      self, p, dim, maxnorm);
}

Tensor& renorm_out(const Tensor& self, const at::Scalar& p, int64_t dim, const at::Scalar& maxnorm,
                   Tensor& out) {
  if (renorm_fits(self, p, dim, maxnorm) && out.scalar_type() == self.scalar_type() &&
      out.device() == self.device()) {
    const Tensor result = renormalize(self, p, dim, maxnorm);
    at::native::resize_output(out, self.sizes());
    return out.copy_(result);
  }
  return on_cpu<"renorm.out", Tensor&(const Tensor&, const at::Scalar&, int64_t, const at::Scalar&,
                                      Tensor&)>(self, p, dim, maxnorm, out);
}

}  // namespace

// Source: Zhang and Sennrich, Root mean square layer normalization (2019). With x̂ = x · rstd and g
// = weight · gradient, the gradient of the input is rstd · (g - x̂ · mean(g · x̂)) for each row.
std::tuple<Tensor, Tensor> composed::RmsNormBackward::functional(
    const Tensor& grad_out, const Tensor& input, at::IntArrayRef normalized_shape,
    const Tensor& rstd, const OptionalTensor& weight, std::array<bool, 2> mask) {
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  DimVector rows, columns;
  for (int64_t d = 0; d < input.dim(); ++d) (d < leading ? rows : columns).push_back(d);
  const bool weighted = weight && weight->defined();
  const Tensor grad = widen(grad_out), scale = widen(rstd), normal = widen(input) * scale;
  Tensor grad_input, grad_weight;
  if (mask[0]) {
    const Tensor arriving = weighted ? grad * widen(*weight) : grad;
    const Tensor shared = (arriving * normal).mean(columns, /*keepdim=*/true);
    grad_input = ((arriving - normal * shared) * scale).to(input.scalar_type());
  }
  if (mask[1] && weighted) {
    const Tensor products = grad * normal;
    grad_weight = (rows.empty() ? products : products.sum(rows)).to(weight->scalar_type());
  }
  return {std::move(grad_input), std::move(grad_weight)};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_batch_norm_with_update", batch_norm_with_update);
  DL_COMPOSED("_batch_norm_with_update.out", batch_norm_with_update_out);
  DL_COMPOSED("batch_norm_backward", batch_norm_backward);
  DL_COMPOSED("batch_norm_update_stats", batch_norm_update_stats);
  DL_COMPOSED("_weight_norm_interface", weight_norm);
  DL_COMPOSED("_weight_norm_interface_backward", weight_norm_backward);
  DL_COMPOSED("renorm", renorm);
  DL_COMPOSED("renorm_", renorm_in_place);
  DL_COMPOSED("renorm.out", renorm_out);
}

}  // namespace dl::core::composed
