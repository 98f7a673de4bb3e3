// tril_indices and triu_indices: indices of the elements of a triangle.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <optional>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/strides.h"

namespace dl::core::composed {
namespace {

// Row and column indices of the elements of a triangle, in row-major order. The mask covers only
// the rows and columns that have elements, because the others can be many.
Tensor triangle_indices(int64_t row, int64_t col, int64_t offset,
                        std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                        std::optional<at::Device> device, bool upper) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided,
              "only support layout=torch.strided, got ", *layout);
  TORCH_CHECK(row >= 0, "row must be non-negative, got", row);
  TORCH_CHECK(col >= 0, "col must be non-negative, got", col);
  const at::ScalarType type = dtype.value_or(at::kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(type == at::kLong || type == at::kInt, upper ? "\"triu" : "\"tril",
                              "_indices\" not implemented for '", type, "'");
  const int64_t diagonal = std::clamp(offset, -row, col);
  const int64_t first_row = upper ? 0 : std::max<int64_t>(0, -diagonal);
  const int64_t first_col = upper ? std::max<int64_t>(0, diagonal) : 0;
  const int64_t rows = upper ? std::min(row, col - diagonal) : row - first_row;
  const int64_t cols = upper ? col - first_col : std::min(col, row + diagonal);
  const auto options = at::TensorOptions().device(device).dtype(at::kBool);
  const Tensor mask = at::ones({rows, cols}, options);
  const int64_t shifted = diagonal + first_row - first_col;
  const Tensor places = (upper ? mask.triu(shifted) : mask.tril(shifted)).nonzero();
  if (first_row > 0) places.select(1, 0).add_(first_row);
  if (first_col > 0) places.select(1, 1).add_(first_col);
  return arrange(places.t()).to(type);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                    std::optional<bool>) {
  return triangle_indices(row, col, offset, dtype, layout, device, false);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                    std::optional<bool>) {
  return triangle_indices(row, col, offset, dtype, layout, device, true);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("tril_indices", tril_indices);
  DL_COMPOSED("triu_indices", triu_indices);
}

}  // namespace dl::core::composed
