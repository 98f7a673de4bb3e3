// linalg_solve_triangular. The contract's operator expects the unknown to the right of the matrix;
// other systems are transposed.
#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

Site solve_triangular_site{"linalg_solve_triangular",
                           {"linalg_solve_triangular", "linalg_solve_triangular.out"},
                           {Op::diopiTriangularSolve}};

bool solve_native(OutputPlan& plan, GivenOutputs given, const Tensor& self, const Tensor& other,
                  bool upper, bool left, bool unitriangular) {
  const int device_index = ::dl::core::device_of(self);
  if (device_index < 0 || solve_triangular_site.disabled.load(std::memory_order_relaxed))
    return false;
  const auto function = DL_CONTRACT_FUNCTION(device_unchecked(device_index), diopiTriangularSolve);
  if (function == nullptr || other.device() != self.device()) return false;
  const Tensor A = self.resolve_conj().resolve_neg(), B = other.resolve_conj().resolve_neg();
  if (!plans::are_square(A) || !plans::are_matrices(B) || !plans::alike(A, B) ||
      B.size(left ? -2 : -1) != A.size(-1) || !plans::batches_broadcast(A, B))
    return false;
  const int64_t n = A.size(-1);
  const DimVector sizes = plans::sizes_of_batch(A, B, {B.size(-2), B.size(-1)});
  plan.start(A);
  // Chooses the same strides as torch.
  if (self.is_conj() && self.mT().is_contiguous()) {
    plan.output(sizes, A.scalar_type());
  } else {
    plan.column_major_output(sizes, A.scalar_type());
  }
  plan.output(plans::sizes_of_batch(A, B, {n, n}), A.scalar_type());
  if (!plan.make_outputs(given)) return false;
  const auto turned = [left](const Tensor& tensor) { return left ? tensor : tensor.mT(); };
  const Tensor out = turned(plan.out(0)), right = turned(B), matrices = turned(A);
  NativeCall call(solve_triangular_site, device_index);
  OutputHandle out_handle(out), copy_handle(plan.out(1));
  return call.run("diopiTriangularSolve", function, out_handle.get(), copy_handle.get(),
                  TensorHandle(right).get(), TensorHandle(matrices).get(), upper == left,
                  /*transpose=*/false, unitriangular);
}

Tensor solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left,
                        bool unitriangular) {
  OutputPlan plan;
  if (solve_native(plan, {}, self, B, upper, left, unitriangular)) return plan.take(0);
  return on_cpu<"linalg_solve_triangular", decltype(solve_triangular)>(self, B, upper, left,
                                                                       unitriangular);
}

Tensor& solve_triangular_out(const Tensor& self, const Tensor& B, bool upper, bool left,
                             bool unitriangular, Tensor& out) {
  OutputPlan plan;
  if (solve_native(plan, {&out}, self, B, upper, left, unitriangular)) return out;
  return on_cpu<"linalg_solve_triangular.out", decltype(solve_triangular_out)>(self, B, upper, left,
                                                                               unitriangular, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_KERNEL("linalg_solve_triangular", solve_triangular);
  DL_KERNEL("linalg_solve_triangular.out", solve_triangular_out);
}

}  // namespace dl::core::composed
