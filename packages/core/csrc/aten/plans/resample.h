// Resizing of one axis with a table: every output cell is a weighted sum of a few input cells.
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
  std::optional<double> factor;  // as given by the caller: output cells per input cell

  // Input cells per output cell.
  double step() const;
};

// The input cell that torch's nearest mode copies to output `o`, computed in double or float.
int64_t nearest_cell(const AxisScale& axis, bool exact, bool in_double, int64_t o);

struct AxisTaps {
  int64_t count;               // cells per output
  std::vector<int64_t> cells;  // cells read by each output, concatenated
  std::vector<double> weights;
};
AxisTaps axis_taps(Resampling kind, const AxisScale& axis, bool in_double);

// Resizes one dimension with the table; weights are converted to the dtype of the tensor.
at::Tensor apply_taps(const at::Tensor& input, int64_t dim, const AxisTaps& taps);
// Gradient of apply_taps; `cells` is the size of the input dimension.
at::Tensor apply_taps_backward(const at::Tensor& grad, int64_t dim, int64_t cells,
                               const AxisTaps& taps);

}  // namespace dl::core
