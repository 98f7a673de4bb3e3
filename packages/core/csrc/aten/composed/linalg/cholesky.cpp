// cholesky_solve and cholesky_inverse.
#include <ATen/ops/cholesky_inverse.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_solve_triangular.h>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

// Solves L · Lᴴ · x = `right`, or Uᴴ · U · x = `right`.
Tensor solution(const Tensor& factor, const Tensor& right, bool upper) {
  const Tensor lower = upper ? factor.mH() : factor;
  const Tensor between = at::linalg_solve_triangular(lower, right, /*upper=*/false);
  return at::linalg_solve_triangular(lower.mH(), between, /*upper=*/true);
}

Tensor cholesky_solve_helper(const Tensor& self, const Tensor& A, bool upper) {
  if (!plans::are_square(A) || !plans::are_matrices(self) || self.dtype() != A.dtype() ||
      self.size(-2) != A.size(-1))
    return on_cpu<"_cholesky_solve_helper", decltype(cholesky_solve_helper)>(self, A, upper);
  return by_columns(solution(A, self, upper));
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  // A factor with a 0 on its diagonal is singular: torch raises the error.
  if (!plans::are_square(self) || !self.diagonal(0, -2, -1).ne(0).all().item<bool>())
    return on_cpu<"cholesky_inverse", decltype(cholesky_inverse)>(self, upper);
  return by_columns(solution(self, at::eye(self.size(-1), self.options()), upper));
}

Tensor& cholesky_inverse_out(const Tensor& self, bool upper, Tensor& out) {
  return write_to_matrices(out, composed::cholesky_inverse(self, upper));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_cholesky_solve_helper", cholesky_solve_helper);
  DL_COMPOSED("cholesky_inverse", cholesky_inverse);
  DL_COMPOSED("cholesky_inverse.out", cholesky_inverse_out);
}

}  // namespace dl::core::composed
