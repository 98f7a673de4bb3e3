// Products of sparse and dense matrices: each element scales a row of the dense matrix, and the
// rows are summed by index.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "aten/layout/resize_output.h"
#include "aten/sparse/coo.h"
#include "aten/sparse/kernel.h"
#include "aten/sparse/sparse_fallback.h"

namespace dl::core {
namespace {

// Elements of a matrix: row int64[nnz], column int64[nnz], value [nnz].
struct Elements {
  at::Tensor rows, columns, values;
};

Elements elements_of(const at::Tensor& matrix) {
  if (matrix.layout() == at::kSparse) {
    const at::Tensor indices = matrix._indices();
    return {indices.select(0, 0), indices.select(0, 1), matrix._values()};
  }
  const bool by_rows = matrix.layout() == at::kSparseCsr;
  const at::Tensor indices =
      by_rows ? at::_convert_indices_from_csr_to_coo(matrix.crow_indices(), matrix.col_indices())
              : at::_convert_indices_from_csr_to_coo(matrix.ccol_indices(), matrix.row_indices(),
                                                     false, /*transpose=*/true);
  return {indices.select(0, 0).to(at::kLong), indices.select(0, 1).to(at::kLong), matrix.values()};
}

bool is_sparse_matrix(const at::Tensor& tensor) {
  const at::Layout layout = tensor.layout();
  if (layout != at::kSparse && layout != at::kSparseCsr && layout != at::kSparseCsc) return false;
  return tensor.dim() == 2 && tensor.dense_dim() == 0;
}

// If the arguments do not fit, torch raises the error.
bool fits(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
          const at::Tensor& out) {
  const at::ScalarType type = mat1.scalar_type();
  if (!is_sparse_matrix(mat1) || !is_dense_beside(mat2, mat1) || !is_dense_beside(self, mat1) ||
      !is_dense_beside(out, mat1))
    return false;
  if (mat2.dim() != 2 || mat1.size(1) != mat2.size(0) || mat2.scalar_type() != type ||
      self.scalar_type() != type || out.scalar_type() != type || self.dim() > 2)
    return false;
  const int64_t rows = mat1.size(0), columns = mat2.size(1);
  const auto spreads = [](int64_t size, int64_t wanted) { return size == 1 || size == wanted; };
  return (self.dim() < 1 || spreads(self.size(-1), columns)) &&
         (self.dim() < 2 || spreads(self.size(0), rows));
}

// mat1 @ mat2. Half-precision sums are accumulated in float32.
at::Tensor matrix_product(const at::Tensor& mat1, const at::Tensor& mat2) {
  const at::ScalarType type = mat1.scalar_type();
  const at::ScalarType sum_type = at::isReducedFloatingType(type) ? at::kFloat : type;
  const Elements matrix = elements_of(mat1);
  const at::Tensor result = at::zeros({mat1.size(0), mat2.size(1)}, mat2.options().dtype(sum_type));
  if (matrix.values.numel() == 0 || mat2.size(1) == 0) return result;
  const at::Tensor scaled = mat2.index_select(0, matrix.columns)
                                .to(sum_type)
                                .mul_(matrix.values.to(sum_type).unsqueeze(1));
  return result.index_add_(0, matrix.rows, scaled);
}

at::Tensor combine(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                   const at::Scalar& beta, const at::Scalar& alpha) {
  at::Tensor result = matrix_product(mat1, mat2);
  if (!alpha.equal(1)) result.mul_(alpha);
  // If beta is 0, the values of self are ignored.
  if (!beta.equal(0)) result.add_(self.to(result.scalar_type()), beta);
  return result.to(self.scalar_type());
}

at::Tensor& addmm_out(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                      const at::Scalar& beta, const at::Scalar& alpha, at::Tensor& out) {
  if (!fits(self, mat1, mat2, out))
    return sparse_on_cpu<"addmm.out", decltype(addmm_out)>(self, mat1, mat2, beta, alpha, out);
  const at::Tensor result = combine(self, mat1, mat2, beta, alpha);
  at::native::resize_output(out, result.sizes());
  out.copy_(result);
  return out;
}

at::Tensor addmm(const at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                 const at::Scalar& beta, const at::Scalar& alpha) {
  if (!fits(self, mat1, mat2, self))
    return sparse_on_cpu<"addmm", decltype(addmm)>(self, mat1, mat2, beta, alpha);
  return combine(self, mat1, mat2, beta, alpha);
}

at::Tensor& addmm_(at::Tensor& self, const at::Tensor& mat1, const at::Tensor& mat2,
                   const at::Scalar& beta, const at::Scalar& alpha) {
  const bool spread = self.dim() != 2 || mat1.dim() != 2 || mat2.dim() != 2 ||
                      self.size(0) != mat1.size(0) || self.size(1) != mat2.size(1);
  if (spread || !fits(self, mat1, mat2, self))
    return sparse_on_cpu<"addmm_", decltype(addmm_)>(self, mat1, mat2, beta, alpha);
  return self.copy_(combine(self, mat1, mat2, beta, alpha));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, library) {
  DL_SPARSE("addmm", addmm);
  DL_SPARSE("addmm_", addmm_);
  DL_SPARSE("addmm.out", addmm_out);
}
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, library) { DL_SPARSE("addmm.out", addmm_out); }

}  // namespace dl::core
