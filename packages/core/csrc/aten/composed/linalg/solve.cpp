// Linear systems, inverses and determinants, from LU factors.
#include <ATen/ops/_linalg_check_errors.h>
#include <ATen/ops/_linalg_det_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/_linalg_slogdet_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/_linalg_solve_ex_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_inv_ex_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/linalg_lu_factor_ex.h>
#include <ATen/ops/linalg_lu_solve.h>

#include <tuple>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

// For inverses and determinants, torch factors the transpose of a contiguous matrix. The gradients
// of determinants rely on this.
bool is_factored_transposed(const Tensor& A) { return A.is_contiguous() && !A.is_complex(); }
Tensor factored(const Tensor& A) { return is_factored_transposed(A) ? A.mT() : A; }

// Returns true if the right-hand sides are vectors, one for each matrix.
bool are_vectors(const Tensor& B, const Tensor& A) {
  return B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, A.dim() - 1));
}

bool is_index_target(const Tensor& out, const Tensor& self) {
  return out.scalar_type() == at::kInt && out.device() == self.device();
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> solve_ex_out(const Tensor& A, const Tensor& B,
                                                            bool left, bool check_errors,
                                                            Tensor& result, Tensor& LU,
                                                            Tensor& pivots, Tensor& info) {
  const bool takes = plans::are_square(A) && B.dim() >= 1 && is_target_for(B, A);
  const bool vectors = takes && are_vectors(B, A);
  const Tensor right = vectors ? B.unsqueeze(-1) : B;
  if (!takes || (vectors && !left) || right.dim() < 2 || right.size(left ? -2 : -1) != A.size(-1) ||
      !plans::batches_broadcast(A, right) || !is_target_for(result, A) || !is_target_for(LU, A) ||
      !is_index_target(pivots, A) || !is_index_target(info, A))
    return on_cpu<"_linalg_solve_ex.result", decltype(solve_ex_out)>(A, B, left, check_errors,
                                                                     result, LU, pivots, info);
  at::linalg_lu_factor_ex_out(LU, pivots, info, A);
  if (check_errors) at::_linalg_check_errors(info, "torch.linalg.solve_ex", A.dim() == 2);
  const Tensor found = at::linalg_lu_solve(LU, pivots, right, left);
  const Tensor solution = vectors ? found.squeeze(-1) : found;
  // As in torch, batches of vectors are column-major too.
  if (left && solution.dim() > 1) {
    write_by_columns(result, solution);
  } else {
    write_to(result, solution);
  }
  return {result, LU, pivots, info};
}

std::tuple<Tensor&, Tensor&> inv_ex_out(const Tensor& A, bool check_errors, Tensor& inverse,
                                        Tensor& info) {
  if (!plans::are_square(A) || !is_target_for(inverse, A) || !is_index_target(info, A))
    return on_cpu<"linalg_inv_ex.inverse", decltype(inv_ex_out)>(A, check_errors, inverse, info);
  Tensor LU = at::empty({0}, A.options()), pivots = at::empty({0}, A.options().dtype(at::kInt));
  at::linalg_lu_factor_ex_out(LU, pivots, info, factored(A));
  const Tensor identity = at::eye(A.size(-1), A.options());
  write_by_columns(inverse, at::linalg_lu_solve(LU, pivots, identity, /*left=*/true,
                                                /*adjoint=*/is_factored_transposed(A)));
  if (check_errors) at::_linalg_check_errors(info, "linalg.inv_ex", A.dim() == 2);
  return {inverse, info};
}

// -1 for an odd number of row exchanges, otherwise 1.
Tensor sign_of_order(const Tensor& pivots, const Tensor& like) {
  const Tensor in_place = at::arange(1, pivots.size(-1) + 1, pivots.options());
  return in_place.ne(pivots).sum(-1).remainder(2).mul(-2).add(1).to(like.scalar_type());
}

void factor_for_determinant(const Tensor& A, Tensor& LU, Tensor& pivots) {
  Tensor info = at::empty({0}, A.options().dtype(at::kInt));
  at::linalg_lu_factor_ex_out(LU, pivots, info, factored(A));
}

std::tuple<Tensor&, Tensor&, Tensor&> det_out(const Tensor& A, Tensor& result, Tensor& LU,
                                              Tensor& pivots) {
  if (!plans::are_square(A) || !is_target_for(result, A) || !is_target_for(LU, A) ||
      !is_index_target(pivots, A))
    return on_cpu<"_linalg_det.result", decltype(det_out)>(A, result, LU, pivots);
  factor_for_determinant(A, LU, pivots);
  const Tensor product = LU.diagonal(0, -2, -1).prod(-1);
  write_to(result, product.mul(sign_of_order(pivots, product)));
  return {result, LU, pivots};
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> slogdet_out(const Tensor& A, Tensor& sign,
                                                           Tensor& logabsdet, Tensor& LU,
                                                           Tensor& pivots) {
  if (!plans::are_square(A) || !is_target_for(sign, A) || logabsdet.device() != A.device() ||
      logabsdet.scalar_type() != c10::toRealValueType(A.scalar_type()) || !is_target_for(LU, A) ||
      !is_index_target(pivots, A))
    return on_cpu<"_linalg_slogdet.sign", decltype(slogdet_out)>(A, sign, logabsdet, LU, pivots);
  factor_for_determinant(A, LU, pivots);
  const Tensor diagonal = LU.diagonal(0, -2, -1);
  const Tensor product = diagonal.sgn().prod(-1);
  write_to(sign, product.mul(sign_of_order(pivots, product)));
  write_to(logabsdet, diagonal.abs().log().sum(-1));
  return {sign, logabsdet, LU, pivots};
}

// The allocating form is registered for the dl device only.
std::tuple<Tensor, Tensor, Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left,
                                                    bool check_errors) {
  if (A.device() != B.device())
    return on_cpu<"_linalg_solve_ex", decltype(solve_ex)>(A, B, left, check_errors);
  return at::compositeexplicitautogradnonfunctional::_linalg_solve_ex(A, B, left, check_errors);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_linalg_solve_ex", solve_ex);
  DL_COMPOSED("_linalg_solve_ex.result", solve_ex_out);
  DL_COMPOSED("linalg_inv_ex", at::compositeexplicitautogradnonfunctional::linalg_inv_ex);
  DL_COMPOSED("linalg_inv_ex.inverse", inv_ex_out);
  DL_COMPOSED("_linalg_det", at::compositeexplicitautogradnonfunctional::_linalg_det);
  DL_COMPOSED("_linalg_det.result", det_out);
  DL_COMPOSED("_linalg_slogdet", at::compositeexplicitautogradnonfunctional::_linalg_slogdet);
  DL_COMPOSED("_linalg_slogdet.sign", slogdet_out);
}

}  // namespace dl::core::composed
