// Conversion between row indices (COO) and compressed row pointers (CSR).
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "aten/kernel/composed.h"
#include "aten/kernel/wrapper.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

at::ScalarType index_type(bool narrow) { return narrow ? at::kInt : at::kLong; }

// Row pointers [size + 1]: the start of each row, and the end of the last row.
at::Tensor row_starts(const at::Tensor& rows, int64_t size, bool out_int32) {
  if (rows.dim() != 1)
    return on_cpu<"_convert_indices_from_coo_to_csr", decltype(row_starts)>(rows, size, out_int32);
  const at::Tensor next = rows.to(at::kLong) + 1;
  at::Tensor counts = at::zeros({size + 1}, next.options());
  counts.scatter_add_(0, next, at::ones_like(next));
  return at::cumsum(counts, 0).to(index_type(out_int32));
}

// [2, nnz]: row and column of each element; column and row if `transpose` is true.
at::Tensor coordinates(const at::Tensor& starts, const at::Tensor& columns, bool out_int32,
                       bool transpose) {
  if (starts.dim() != 1 || columns.dim() != 1 || starts.numel() == 0) {
    return on_cpu<"_convert_indices_from_csr_to_coo", decltype(coordinates)>(starts, columns,
                                                                             out_int32, transpose);
  }
  const at::Tensor elements = at::arange(columns.numel(), columns.options().dtype(at::kLong));
  const at::Tensor ends = starts.narrow(0, 1, starts.numel() - 1).to(at::kLong);
  const at::Tensor rows = at::searchsorted(ends, elements, out_int32, /*right=*/true);
  const at::Tensor others = columns.to(index_type(out_int32));
  return transpose ? at::stack({others, rows}) : at::stack({rows, others});
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_convert_indices_from_coo_to_csr", row_starts);
  DL_COMPOSED("_convert_indices_from_csr_to_coo", coordinates);
}

}  // namespace dl::core::composed
