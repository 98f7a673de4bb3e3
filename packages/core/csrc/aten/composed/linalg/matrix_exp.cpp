// Matrix exponential by scaling and squaring with the Taylor polynomial of degree 18. The norm
// bounds below which the polynomial is accurate to roundoff are from Bader, Blanes and Casas,
// Computing the matrix exponential with an optimized Taylor polynomial approximation, 2019.
#include <ATen/ops/exp.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_matrix_exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

constexpr int kDegree = 18, kStep = 3;
constexpr double kSingleBound = 3.01, kDoubleBound = 1.09;

double reciprocal_of_factorial(int n) {
  double result = 1;
  for (int i = 2; i <= n; ++i) result /= i;
  return result;
}

// Evaluates the polynomial in powers of the third power (Paterson and Stockmeyer, 1973).
Tensor polynomial(const Tensor& matrix) {
  const Tensor square = at::matmul(matrix, matrix), cube = at::matmul(square, matrix);
  const Tensor identity = at::eye(matrix.size(-1), matrix.options());
  Tensor sum = identity.mul(reciprocal_of_factorial(kDegree));
  for (int first = kDegree - kStep; first >= 0; first -= kStep) {
    Tensor terms = identity.mul(reciprocal_of_factorial(first));
    terms = terms.add(matrix, reciprocal_of_factorial(first + 1));
    terms = terms.add(square, reciprocal_of_factorial(first + 2));
    sum = terms.add(at::matmul(sum.expand_as(cube), cube));
  }
  return sum;
}

Tensor matrix_exp(const Tensor& self) {
  if (!plans::are_square(self)) return on_cpu<"linalg_matrix_exp", decltype(matrix_exp)>(self);
  if (self.numel() == 0) return self.clone(at::MemoryFormat::Contiguous);
  if (self.size(-1) == 1) return at::exp(self);
  const bool is_double =
      self.scalar_type() == at::kDouble || self.scalar_type() == at::kComplexDouble;
  const Tensor norms = std::get<0>(self.abs().sum(-2).max(-1));
  const Tensor halvings =
      norms.div(is_double ? kDoubleBound : kSingleBound).log2().ceil().clamp_min(0);
  const double most = halvings.max().item<double>();
  // An infinity or NaN makes the whole matrix NaN, in a way that torch's CPU kernel defines.
  if (!(most < 1100)) return on_cpu<"linalg_matrix_exp", decltype(matrix_exp)>(self);
  const Tensor count = halvings.unsqueeze(-1).unsqueeze(-1);
  Tensor result = polynomial(self.mul(count.neg().exp2()));
  for (int64_t i = 0; i < static_cast<int64_t>(most); ++i)
    result = at::where(count.gt(i), at::matmul(result, result), result);
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { DL_COMPOSED("linalg_matrix_exp", matrix_exp); }

}  // namespace dl::core::composed
