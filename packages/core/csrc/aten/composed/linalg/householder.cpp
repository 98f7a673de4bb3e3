// Products of Householder reflectors I - tau · v · vᴴ in the compact form I - V · T · Vᴴ, where the
// inverse of T is diag(tau)⁻¹ plus the part of Vᴴ · V above the diagonal. Source: Joffrain, Low,
// Quintana-Ortí, van de Geijn and Van Zee, Accumulating Householder transformations, revisited,
// 2006.
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_householder_product.h>
#include <ATen/ops/linalg_solve_triangular.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ormqr.h>

#include <algorithm>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

// The vectors are below the diagonal of `input` [..., m, n], as geqrf stores them; `tau` is [...,
// k].
bool are_reflectors(const Tensor& input, const Tensor& tau) {
  return plans::are_matrices(input) && is_target_for(tau, input) && tau.dim() == input.dim() - 1 &&
         tau.sizes().slice(0, tau.dim() - 1) == input.sizes().slice(0, tau.dim() - 1) &&
         tau.size(-1) <= input.size(-1) && tau.size(-1) <= input.size(-2);
}

// tau · v · vᴴ is computed from sqrt(|tau|) · v and sgn(tau), so that products of large vectors
// overflow only if the result does.
struct Reflectors {
  Reflectors(const Tensor& input, const Tensor& tau) {
    const int64_t m = input.size(-2), k = tau.size(-1);
    const Tensor given = input.narrow(-1, 0, k).tril(-1).add_(at::eye(m, k, input.options()));
    vectors = given.mul_(tau.abs().sqrt_().unsqueeze(-2));
    const Tensor weights = tau.sgn();
    const Tensor above = at::matmul(vectors.mH(), vectors).triu(1);
    factor = at::linalg_solve_triangular(above.mul(weights.unsqueeze(-1)), at::diag_embed(weights),
                                         /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  }
  Tensor vectors;  // [..., m, k], with 1 on the diagonal and 0 above it, scaled
  Tensor factor;   // T
};

Tensor householder_product(const Tensor& input, const Tensor& tau) {
  if (!are_reflectors(input, tau) || input.size(-2) < input.size(-1))
    return on_cpu<"linalg_householder_product", decltype(householder_product)>(input, tau);
  const Reflectors all(input, tau);
  const int64_t n = input.size(-1);
  // Only the first n columns of Vᴴ are needed.
  const Tensor part = at::matmul(all.factor, all.vectors.narrow(-2, 0, n).mH());
  const Tensor identity = at::eye(input.size(-2), n, input.options());
  // As in torch, the result is column-major.
  return by_columns(identity.sub(at::matmul(all.vectors, part)));
}

Tensor& householder_product_out(const Tensor& input, const Tensor& tau, Tensor& out) {
  return write_to_matrices(out, composed::householder_product(input, tau));
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
             bool transpose) {
  const bool takes =
      are_reflectors(self, tau) && plans::are_matrices(other) && is_target_for(other, self) &&
      other.dim() == self.dim() &&
      other.sizes().slice(0, other.dim() - 2) == self.sizes().slice(0, self.dim() - 2) &&
      other.size(left ? -2 : -1) == self.size(-2) &&
      tau.size(-1) == std::min(self.size(-2), self.size(-1));
  if (!takes) return on_cpu<"ormqr", decltype(ormqr)>(self, tau, other, left, transpose);
  const Reflectors all(self, tau);
  const Tensor factor = transpose ? all.factor.mH() : all.factor;
  const Tensor change =
      left ? at::matmul(all.vectors, at::matmul(factor, at::matmul(all.vectors.mH(), other)))
           : at::matmul(at::matmul(at::matmul(other, all.vectors), factor), all.vectors.mH());
  return by_columns(other.sub(change));
}

Tensor& ormqr_out(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
                  bool transpose, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(),
              "torch.ormqr: Expected input and result to have the same dtype, but input has dtype ",
              self.scalar_type(), " and result has dtype ", out.scalar_type());
  return write_to_matrices(out, composed::ormqr(self, tau, other, left, transpose));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("linalg_householder_product", householder_product);
  DL_COMPOSED("linalg_householder_product.out", householder_product_out);
  DL_COMPOSED("ormqr", ormqr);
  DL_COMPOSED("ormqr.out", ormqr_out);
}

}  // namespace dl::core::composed
