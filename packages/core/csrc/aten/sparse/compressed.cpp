// Conversion between CSR and CSC, through COO.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <optional>

#include "aten/sparse/kernel.h"
#include "aten/sparse/sparse_fallback.h"

namespace dl::core {
namespace {

// Returns true for a single matrix of scalars; batches and block formats run on the CPU.
bool is_matrix(const at::Tensor& tensor, at::Layout layout) {
  return tensor.layout() == layout && tensor.dim() == 2 && tensor.dense_dim() == 0;
}

at::Tensor by_rows(const at::Tensor& self, std::optional<int64_t> dense_dim) {
  if (is_matrix(self, at::kSparseCsc)) return self.to_sparse().to_sparse_csr(dense_dim);
  return sparse_on_cpu<"_to_sparse_csr", decltype(by_rows)>(self, dense_dim);
}

at::Tensor by_columns(const at::Tensor& self, std::optional<int64_t> dense_dim) {
  if (is_matrix(self, at::kSparseCsr)) return self.to_sparse().to_sparse_csc(dense_dim);
  return sparse_on_cpu<"_to_sparse_csc", decltype(by_columns)>(self, dense_dim);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, library) {
  DL_SPARSE("_to_sparse_csr", by_rows);
  DL_SPARSE("_to_sparse_csc", by_columns);
}

}  // namespace dl::core
