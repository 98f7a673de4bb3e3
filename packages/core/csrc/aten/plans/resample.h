// Resizing of one axis as a table: every result is a weighted sum of a few cells.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dl::core {

enum class Resampling { nearest, nearest_exact, linear, cubic, aa_linear, aa_cubic, aa_lanczos };

struct AxisScale {
  int64_t input, output;
  bool align_corners;
  std::optional<double> factor;  // as the caller gave it: output cells for each input cell

  // Input cells for each output cell.
  double step() const;
};

// The cell that torch repeats at output `o`, reckoned in double or single precision.
int64_t nearest_cell(const AxisScale& axis, bool exact, bool in_double, int64_t o);

struct AxisTaps {
  int64_t count;               // cells for each result
  std::vector<int64_t> cells;  // of all results, one after the other
  std::vector<double> weights;
};
AxisTaps axis_taps(Resampling kind, const AxisScale& axis, bool in_double);

// Resizes one dimension by the table; weights are taken in the dtype of the tensor.
at::Tensor apply_taps(const at::Tensor& input, int64_t dim, const AxisTaps& taps);
// The gradient: `cells` is the size of the dimension of the input.
at::Tensor apply_taps_backward(const at::Tensor& grad, int64_t dim, int64_t cells,
                               const AxisTaps& taps);

}  // namespace dl::core
