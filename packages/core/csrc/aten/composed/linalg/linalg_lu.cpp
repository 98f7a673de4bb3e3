// lu_unpack, linalg_lu and linalg_lu_solve.
#include <ATen/ops/argsort.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/linalg_lu_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/linalg_lu_factor_ex.h>
#include <ATen/ops/linalg_lu_solve_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/linalg_solve_triangular.h>
#include <ATen/ops/lu_unpack.h>
#include <ATen/ops/lu_unpack_compositeexplicitautogradnonfunctional_dispatch.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>

#include <algorithm>
#include <tuple>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "memory/new_tensor.h"

namespace dl::core::composed {
namespace {

using References = std::tuple<Tensor&, Tensor&, Tensor&>;

Site lu_unpack_site{"lu_unpack", {"lu_unpack", "lu_unpack.out"}, {Op::dlopPivotsToPermutation}};
Site lu_solve_site{
    "linalg_lu_solve", {"linalg_lu_solve", "linalg_lu_solve.out"}, {Op::dlopPivotsToPermutation}};

// For each row of L · U, the corresponding row of the matrix; undefined if the vendor lacks the
// operator.
Tensor order_of_rows(Site& site, const Tensor& pivots, int64_t rows) {
  const int device_index = ::dl::core::device_of(pivots);
  if (device_index < 0 || site.disabled.load(std::memory_order_relaxed)) return {};
  const auto function =
      DL_CONTRACT_FUNCTION(device_unchecked(device_index), dlopPivotsToPermutation);
  if (function == nullptr) return {};
  DimVector sizes(pivots.sizes().begin(), pivots.sizes().end());
  sizes.back() = rows;
  const Tensor order = empty_on(device_index, sizes, at::kLong);
  NativeCall call(site, device_index);
  OutputHandle order_handle(order);
  const bool done =
      call.run("dlopPivotsToPermutation", function, order_handle.get(), TensorHandle(pivots).get());
  return done ? order : Tensor();
}

// Returns true if `pivots` has min(m, n) entries for each matrix of LU.
bool are_pivots_of(const Tensor& pivots, const Tensor& LU) {
  return pivots.scalar_type() == at::kInt && pivots.device() == LU.device() &&
         pivots.dim() == LU.dim() - 1 &&
         pivots.sizes().slice(0, LU.dim() - 2) == LU.sizes().slice(0, LU.dim() - 2) &&
         pivots.size(-1) == std::min(LU.size(-2), LU.size(-1));
}

bool unpack(OutputPlan& plan, const Tensor& LU, const Tensor& pivots, bool unpack_data,
            bool unpack_pivots, GivenOutputs given) {
  if (!plans::are_matrices(LU) || (unpack_pivots && !are_pivots_of(pivots, LU))) return false;
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const auto output = [&](bool wanted, int64_t rows, int64_t columns) {
    const DimVector sizes = plans::batch_of(LU, {rows, columns});
    plan.output(wanted ? at::IntArrayRef(sizes) : at::IntArrayRef({0}), LU.scalar_type());
  };
  Tensor order;
  if (unpack_pivots) {
    order = order_of_rows(lu_unpack_site, pivots, m);
    if (!order.defined()) return false;
  }
  plan.start(LU);
  output(unpack_pivots, m, m);
  output(unpack_data, m, k);
  output(unpack_data, k, n);
  if (!plan.make_outputs(given)) return false;
  Tensor P = plan.out(0), L = plan.out(1), U = plan.out(2);
  if (unpack_pivots) P.zero_().scatter_(-2, order.unsqueeze(-2), 1);
  if (unpack_data) {
    at::triu_out(U, LU.narrow(-2, 0, k));
    at::tril_out(L, LU.narrow(-1, 0, k), -1);
    L.diagonal(0, -2, -1).fill_(1);
  }
  return true;
}

References lu_unpack_out(const Tensor& LU, const Tensor& pivots, bool unpack_data,
                         bool unpack_pivots, Tensor& P, Tensor& L, Tensor& U) {
  OutputPlan plan;
  if (unpack(plan, LU, pivots, unpack_data, unpack_pivots, {&P, &L, &U})) return {P, L, U};
  // Torch's CPU kernel would read beyond the end of an empty `pivots`.
  TORCH_CHECK(!unpack_pivots || pivots.numel() > 0 || LU.numel() == 0, "[lu_unpack] LU_pivots is ",
              "empty; LU of shape ", LU.sizes(),
              " needs the pivots that lu_factor returned with it");
  return on_cpu<"lu_unpack.out", decltype(lu_unpack_out)>(LU, pivots, unpack_data, unpack_pivots, P,
                                                          L, U);
}

References lu_out(const Tensor& A, bool pivot, Tensor& P, Tensor& L, Tensor& U) {
  if (!plans::are_matrices(A) || !pivot || !is_target_for(P, A) || !is_target_for(L, A) ||
      !is_target_for(U, A))
    return on_cpu<"linalg_lu.out", decltype(lu_out)>(A, pivot, P, L, U);
  const auto [LU, pivots, info] = at::linalg_lu_factor_ex(A, pivot, /*check_errors=*/false);
  return at::lu_unpack_out(P, L, U, LU, pivots, true, true);
}

// Returns `self` with its rows or columns permuted by `order`.
Tensor permute_rows(const Tensor& self, const Tensor& order, bool are_rows) {
  const Tensor index = are_rows ? order.unsqueeze(-1) : order.unsqueeze(-2);
  DimVector sizes = plans::sizes_of_batch(self, index, {self.size(-2), self.size(-1)});
  return at::gather(self.expand(sizes), are_rows ? -2 : -1, index.expand(sizes));
}

// Solves a system with the matrix P · L · U, or its adjoint, to the left or right of the unknown.
Tensor solution(const Tensor& LU, const Tensor& order, const Tensor& B, bool left, bool adjoint) {
  const auto divided = [&](const Tensor& by, const Tensor& right, bool upper, bool unit) {
    return at::linalg_solve_triangular(by, right, upper, left, unit);
  };
  if (!adjoint && left) {
    const Tensor between = divided(LU, permute_rows(B, order, true), false, true);
    return divided(LU, between, true, false);
  }
  if (adjoint && !left) {
    const Tensor turned = LU.mH().resolve_conj();
    const Tensor between = divided(turned, permute_rows(B, order, false), true, true);
    return divided(turned, between, false, false);
  }
  const Tensor back = at::argsort(order, -1, /*descending=*/false);
  if (adjoint) {
    const Tensor turned = LU.mH().resolve_conj();
    return permute_rows(divided(turned, divided(turned, B, false, false), true, true), back, true);
  }
  return permute_rows(divided(LU, divided(LU, B, true, false), false, true), back, false);
}

Tensor& lu_solve_out(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                     bool adjoint, Tensor& out) {
  const bool fits = plans::are_square(LU) && are_pivots_of(pivots, LU) && plans::are_matrices(B) &&
                    is_target_for(B, LU) && is_target_for(out, LU) &&
                    B.size(left ? -2 : -1) == LU.size(-1) && plans::batches_broadcast(LU, B);
  const Tensor order = fits ? order_of_rows(lu_solve_site, pivots, LU.size(-1)) : Tensor();
  if (!order.defined())
    return on_cpu<"linalg_lu_solve.out", decltype(lu_solve_out)>(LU, pivots, B, left, adjoint, out);
  const Tensor found = solution(LU, order, B, left, adjoint);
  return left ? write_by_columns(out, found) : write_to(out, found);
}

// The allocating forms are registered for the dl device only.
std::tuple<Tensor, Tensor, Tensor> unpack_new(const Tensor& LU, const Tensor& pivots,
                                              bool unpack_data, bool unpack_pivots) {
  if (LU.device() != pivots.device())
    return on_cpu<"lu_unpack", decltype(unpack_new)>(LU, pivots, unpack_data, unpack_pivots);
  return at::compositeexplicitautogradnonfunctional::lu_unpack(LU, pivots, unpack_data,
                                                               unpack_pivots);
}

Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  if (LU.device() != pivots.device() || LU.device() != B.device())
    return on_cpu<"linalg_lu_solve", decltype(lu_solve)>(LU, pivots, B, left, adjoint);
  return at::compositeexplicitautogradnonfunctional::linalg_lu_solve(LU, pivots, B, left, adjoint);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("lu_unpack", unpack_new);
  DL_KERNEL("lu_unpack.out", lu_unpack_out);
  DL_COMPOSED("linalg_lu", at::compositeexplicitautogradnonfunctional::linalg_lu);
  DL_COMPOSED("linalg_lu.out", lu_out);
  DL_KERNEL("linalg_lu_solve", lu_solve);
  DL_KERNEL("linalg_lu_solve.out", lu_solve_out);
}

}  // namespace dl::core::composed
