// Gated linear units: the first half of the input times the sigmoid of the second.
#include <ATen/ops/cat.h>

#include "aten/composed/elementwise_forms.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

struct Halves {
  Tensor value, gate;
};
Halves halves_of(const Tensor& x, int64_t dim) {
  TORCH_CHECK(x.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t size = x.size(dim);
  TORCH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ",
              c10::maybe_wrap_dim(dim, x.dim()), " is size ", size);
  return {x.narrow(dim, 0, size / 2), x.narrow(dim, size / 2, size / 2)};
}
// Both parts of the input, converted to the dtype of the computation.
Halves widened_halves(const Tensor& x, int64_t dim) {
  const auto type = is_half(x.scalar_type()) ? at::kFloat : x.scalar_type();
  return halves_of(x.to(type), dim);
}

Tensor gated(const Tensor& value, const Tensor& gate) { return gate.sigmoid().mul_(value); }
using Gated = Binary<gated, Promotion::same, "glu">;

Tensor glu(const Tensor& self, int64_t dim) {
  if (!takes("glu", "", self.scalar_type())) return on_cpu<"glu", decltype(glu)>(self, dim);
  const Halves x = halves_of(self, dim);
  return Gated::run({}, x.value, x.gate);
}
Tensor& glu_out(const Tensor& self, int64_t dim, Tensor& out) {
  if (!takes("glu", "", self.scalar_type()))
    return on_cpu<"glu.out", decltype(glu_out)>(self, dim, out);
  const Halves x = halves_of(self, dim);
  Gated::run(out, x.value, x.gate);
  return out;
}

Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const Halves x = widened_halves(self, dim);
  const Tensor open = x.gate.sigmoid(), grad = grad_output.to(open.scalar_type());
  const Tensor slope = open.neg().add_(1).mul_(open);
  return at::cat({open.mul(grad), slope.mul_(grad).mul_(x.value)}, dim).to(self.scalar_type());
}
Tensor& glu_backward_out(const Tensor& grad_output, const Tensor& self, int64_t dim,
                         Tensor& grad_input) {
  return write_to(grad_input, glu_backward(grad_output, self, dim));
}

Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, int64_t dim) {
  const Halves d = widened_halves(dx, dim);
  const Tensor open = widened_halves(x, dim).gate.sigmoid();
  return d.value.mul(open).add_(open.neg().add_(1).mul_(d.gate).mul_(glu)).to(glu.scalar_type());
}

Tensor glu_backward_jvp(const Tensor& grad_x, const Tensor& grad_glu, const Tensor& x,
                        const Tensor& dgrad_glu, const Tensor& dx, int64_t dim) {
  const Halves a = widened_halves(x, dim), d = widened_halves(dx, dim);
  const Tensor open = a.gate.sigmoid();
  const Tensor grad = grad_glu.to(open.scalar_type()), dgrad = dgrad_glu.to(open.scalar_type());
  const Tensor slope = open.neg().add_(1).mul_(open);
  const Tensor bend = open.mul(-2).add_(1).mul_(slope);
  const Tensor first = slope.mul(d.gate).mul_(grad).add_(open.mul(dgrad));
  const Tensor second = bend.mul_(d.gate).mul_(grad).mul_(a.value).add_(
      dgrad.mul(a.value).add_(grad.mul(d.value)).mul_(slope));
  return at::cat({first, second}, dim).to(grad_x.scalar_type());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("glu", glu);
  DL_COMPOSED("glu.out", glu_out);
  DL_COMPOSED("glu_backward", glu_backward);
  DL_COMPOSED("glu_backward.grad_input", glu_backward_out);
  DL_COMPOSED("glu_jvp", glu_jvp);
  DL_COMPOSED("glu_backward_jvp", glu_backward_jvp);
}

}  // namespace dl::core::composed
