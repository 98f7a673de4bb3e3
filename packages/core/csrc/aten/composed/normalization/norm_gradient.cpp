// Gradients of norms of order p. torch computes |x|^(p - 1) / norm^(p - 1), whose powers can
// overflow or underflow although the quotient does not. Here the gradient with respect to x is
// computed as sgn(x) · (|x| / norm)^(p - 1).
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/where.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "aten/kernel/autograd.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Returns true if the powers in torch's formula can leave the range of the dtype. For orders from 0
// to 1 they cannot, and the remaining orders have formulas without powers.
bool has_wide_powers(double p) { return std::isfinite(p) && (p < 0 || p > 1) && p != 2; }

double order_of_norm(const Scalar& p) { return p.toDouble(); }
double order_of_norm(const std::optional<Scalar>& p) { return p ? p->toDouble() : 2.0; }
bool is_complex_order(const Scalar& p) { return p.isComplex(); }
bool is_complex_order(const std::optional<Scalar>& p) { return p && p->isComplex(); }

// Returns true inside a torch.func transformation, which ignores derivatives written in C++.
bool is_in_torch_func() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerBackMode);
}

// The derivative of a norm with respect to each element; 0 if the norm or the element is 0.
Tensor slope_of(const Tensor& x, const Tensor& norm, double p) {
  if (p < 0) {
    const Tensor none = x.eq(0);
    const Tensor ratio = (norm / x.abs().masked_fill(none, 1)).masked_fill(none, 0);
    return x.sgn() * ratio.pow(1 - p);
  }
  const Tensor unit = x / norm.masked_fill(norm.eq(0), 1);
  return p < 2 ? unit.sgn() * unit.abs().pow(p - 1) : unit * unit.abs().pow(p - 2);
}

// The dimensions and the `keepdim` argument of each overload.
struct ReducedDims {
  at::IntArrayRef dims;
  bool keepdim = false;

  ReducedDims() = default;
  explicit ReducedDims(at::ScalarType) {}
  ReducedDims(at::IntArrayRef over, bool keeps) : dims(over), keepdim(keeps) {}
  ReducedDims(at::IntArrayRef over, bool keeps, at::ScalarType) : dims(over), keepdim(keeps) {}
  ReducedDims(at::OptionalIntArrayRef over, bool keeps, OptionalType)
      : dims(over ? *over : at::IntArrayRef()), keepdim(keeps) {}
};

struct RecordedNorm : torch::autograd::Function<RecordedNorm> {
  template <typename Run>
  static Tensor forward(AutogradContext* context, const Tensor& self, const Run& run, double p,
                        const ReducedDims& reduced) {
    const Tensor norm = run(self);
    context->save_for_backward({self, norm});
    context->saved_data["p"] = p;
    context->saved_data["dims"] = reduced.keepdim ? std::vector<int64_t>() : reduced.dims.vec();
    return norm;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    std::vector<int64_t> dims = context->saved_data["dims"].toIntVector();
    Tensor self = saved[0], norm = saved[1], grad = grads[0];
    at::maybe_wrap_dims(dims, self.dim());
    std::sort(dims.begin(), dims.end());
    for (const int64_t d : self.dim() > 0 ? dims : std::vector<int64_t>()) {
      norm = norm.unsqueeze(d);
      grad = grad.unsqueeze(d);
    }
    const Tensor slope = slope_of(self, norm, context->saved_data["p"].toDouble());
    return {grad * slope, Tensor(), Tensor(), Tensor()};
  }
};

template <Text name, typename Function>
struct RecordedNormOf;

template <Text name, typename Order, typename... Args>
struct RecordedNormOf<name, Tensor(const Tensor&, const Order&, Args...)> {
  static Tensor call(c10::DispatchKeySet keys, const Tensor& self, const Order& p, Args... args) {
    // Forward mode and torch.func keep torch's formula.
    const bool is_ours = at::GradMode::is_enabled() && self.requires_grad() &&
                         !is_complex_order(p) && has_wide_powers(order_of_norm(p)) &&
                         !has_tangent(self) && !is_in_torch_func();
    if (!is_ours) return call_torch_autograd<name>(keys, self, p, args...);
    const auto run = [&](const Tensor& x) {
      static const auto op =
          find_operator(name.value)
              .handle.template typed<Tensor(const Tensor&, const Order&, Args...)>();
      const at::AutoDispatchBelowADInplaceOrView below;
      return op.call(x, p, args...);
    };
    return RecordedNorm::apply(self, run, order_of_norm(p), ReducedDims{args...});
  }
};

template <Text name, typename Function>
void register_norm(torch::Library& library) {
  library.impl(name.value, TORCH_FN((RecordedNormOf<name, Function>::call)));
}

// Operators whose derivative contains a norm's derivative are composed of norms, to use ours.

Tensor dist_recorded(c10::DispatchKeySet keys, const Tensor& self, const Tensor& other,
                     const Scalar& p) {
  if (is_complex_order(p) || !has_wide_powers(p.toDouble()) ||
      (!is_recorded(self) && !is_recorded(other)))
    return call_torch_autograd<"dist">(keys, self, other, p);
  return at::norm(self - other, p);
}

Tensor renorm_recorded(c10::DispatchKeySet keys, const Tensor& self, const Scalar& p, int64_t dim,
                       const Scalar& maxnorm) {
  if (!is_recorded(self) || !at::isFloatingType(self.scalar_type()) || is_complex_order(p) ||
      !has_wide_powers(p.toDouble()) || p.toDouble() <= 0 || maxnorm.isComplex() ||
      maxnorm.toDouble() < 0 || self.dim() < 2)
    return call_torch_autograd<"renorm">(keys, self, p, dim, maxnorm);
  const int64_t kept = at::maybe_wrap_dim(dim, self.dim());
  std::vector<int64_t> reduced;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != kept) reduced.push_back(d);
  }
  const Tensor wide = self.to(at::toOpMathType(self.scalar_type()));
  const Tensor norms = at::linalg_vector_norm(wide, p, reduced, /*keepdim=*/true);
  // torch's epsilon keeps the norm of the result below maxnorm.
  const Tensor limited = wide / (norms + 1e-7) * maxnorm;
  return at::where(norms.gt(maxnorm), limited, wide).to(self.scalar_type());
}

std::vector<Tensor> foreach_norm_recorded(c10::DispatchKeySet keys, at::TensorList tensors,
                                          const Scalar& p, OptionalType dtype) {
  if (is_complex_order(p) || !has_wide_powers(p.toDouble()) ||
      std::none_of(tensors.begin(), tensors.end(), [](const Tensor& x) { return is_recorded(x); }))
    return call_torch_autograd<"_foreach_norm.Scalar", std::vector<Tensor>>(keys, tensors, p,
                                                                            dtype);
  std::vector<Tensor> norms;
  for (const Tensor& tensor : tensors)
    norms.push_back(at::linalg_vector_norm(tensor, p, {}, /*keepdim=*/false, dtype));
  return norms;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  register_norm<"linalg_vector_norm", Tensor(const Tensor&, const Scalar&, at::OptionalIntArrayRef,
                                             bool, OptionalType)>(library);
  register_norm<"norm.Scalar", Tensor(const Tensor&, const Scalar&)>(library);
  register_norm<"norm.ScalarOpt_dtype",
                Tensor(const Tensor&, const std::optional<Scalar>&, at::ScalarType)>(library);
  register_norm<"norm.ScalarOpt_dim", Tensor(const Tensor&, const std::optional<Scalar>&,
                                             at::IntArrayRef, bool)>(library);
  register_norm<"norm.ScalarOpt_dim_dtype", Tensor(const Tensor&, const std::optional<Scalar>&,
                                                   at::IntArrayRef, bool, at::ScalarType)>(library);
  library.impl("dist", TORCH_FN(dist_recorded));
  library.impl("renorm", TORCH_FN(renorm_recorded));
  library.impl("_foreach_norm.Scalar", TORCH_FN(foreach_norm_recorded));
}

}  // namespace dl::core::composed
