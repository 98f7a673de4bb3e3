#include "aten/plans/resample.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "aten/layout/checked_sizes.h"

namespace dl::core {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Source: Keys, Cubic Convolution Interpolation for Digital Image Processing (1981).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x); }

// Source: Duchon, Lanczos Filtering in One and Two Dimensions (1979), three lobes.
double lanczos(double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }

double filter(Resampling kind, double x) {
  if (kind == Resampling::aa_cubic) return cubic(x, -0.5);
  if (kind == Resampling::aa_lanczos) return lanczos(x);
  return std::max(0.0, 1 - std::abs(x));
}

// Reserves the memory of a table before it is filled, which takes time proportional to its size.
void reserve(AxisTaps& taps, int64_t results, bool weighted) {
  const int64_t entries = checked_product({taps.count, results}, "a table of resizing");
  const auto capacity = static_cast<uint64_t>(entries);
  try {
    taps.cells.reserve(capacity);
    taps.weights.reserve(weighted ? capacity : 0);
  } catch (const std::exception&) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "[dl] out of memory: resizing to ", results,
                     " cells needs a table of ", entries, " entries on the host");
  }
}

// Antialiasing widens the filter to the cells that an output cell covers.
AxisTaps antialias_taps(Resampling kind, const AxisScale& axis) {
  // The step of a tiny scale given by the caller may be infinite.
  const double step = std::min(axis.step(), 1e300), wide = std::max(step, 1.0);
  const double reach = kind == Resampling::aa_linear ? 1 : kind == Resampling::aa_cubic ? 2 : 3;
  const double support = reach * wide;
  const auto inputs = static_cast<double>(axis.input);
  // A window has at most as many cells as the input.
  AxisTaps taps{static_cast<int64_t>(std::min(std::ceil(support) * 2 + 1, inputs)), {}, {}};
  reserve(taps, axis.output, true);
  for (int64_t o = 0; o < axis.output; ++o) {
    const double center = step * (static_cast<double>(o) + 0.5);
    const auto begin = static_cast<int64_t>(std::clamp(center - support + 0.5, 0.0, inputs));
    const auto end = static_cast<int64_t>(std::clamp(center + support + 0.5, 0.0, inputs));
    double total = 0;
    for (int64_t k = 0; k < taps.count; ++k) {
      const bool inside = begin + k < end;
      const double x = (static_cast<double>(begin + k) - center + 0.5) / wide;
      taps.cells.push_back(inside ? begin + k : std::max(end - 1, int64_t(0)));
      taps.weights.push_back(inside ? filter(kind, x) : 0);
      total += taps.weights.back();
    }
    for (auto w = taps.weights.end() - taps.count; total != 0 && w != taps.weights.end(); ++w) {
      *w /= total;
    }
  }
  return taps;
}

AxisTaps interpolation_taps(bool is_cubic, const AxisScale& axis) {
  const double step = axis.step();
  AxisTaps taps{is_cubic ? 4 : 2, {}, {}};
  reserve(taps, axis.output, true);
  for (int64_t o = 0; o < axis.output; ++o) {
    double at = axis.align_corners ? step * static_cast<double>(o)
                                   : step * (static_cast<double>(o) + 0.5) - 0.5;
    if (at < 0 && !is_cubic) at = 0;
    at = std::min(at, static_cast<double>(axis.input));
    const int64_t cell = std::min(static_cast<int64_t>(std::floor(at)), axis.input - 1);
    const double t = std::min(at - static_cast<double>(cell), 1.0);
    for (int64_t k = 0; k < taps.count; ++k) {
      const int64_t offset = is_cubic ? k - 1 : k;
      taps.cells.push_back(std::clamp(cell + offset, int64_t(0), axis.input - 1));
      const double distance = std::abs(t - static_cast<double>(offset));
      taps.weights.push_back(is_cubic ? cubic(distance, -0.75) : 1 - distance);
    }
  }
  return taps;
}

at::Tensor on_device_of(const at::Tensor& like, const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong).to(like.device());
}

// Reshapes the weights to [results, count, 1 …], to broadcast with the dimensions from `dim` on.
at::Tensor weights_for(const at::Tensor& like, int64_t dim, const AxisTaps& taps) {
  std::vector<int64_t> shape(static_cast<size_t>(like.dim() - dim) + 1, 1);
  shape[0] = static_cast<int64_t>(taps.weights.size()) / taps.count;
  shape[1] = taps.count;
  return at::tensor(taps.weights, at::kDouble).to(like.scalar_type()).to(like.device()).view(shape);
}

}  // namespace

double AxisScale::step() const {
  if (align_corners)
    return output > 1 ? static_cast<double>(input - 1) / static_cast<double>(output - 1) : 0;
  if (factor && *factor > 0) return 1.0 / *factor;
  return static_cast<double>(input) / static_cast<double>(output);
}

template <typename Real>
int64_t repeated_cell(const AxisScale& axis, bool exact, int64_t o) {
  const Real step = axis.factor && *axis.factor > 0
                        ? static_cast<Real>(1.0 / *axis.factor)
                        : static_cast<Real>(axis.input) / static_cast<Real>(axis.output);
  const auto place = static_cast<Real>(o);
  const Real half = 0.5;
  // The exact mode uses the input cell whose center is nearest to that of the output cell.
  const Real at = exact ? std::max(step * (place + half) - half, Real(0)) + half : step * place;
  if (!(at >= 1)) return 0;
  // A scale given by the caller may lead outside the range of 64 bits.
  if (at >= static_cast<Real>(1LL << 62)) return axis.input - 1;
  return std::min(static_cast<int64_t>(std::floor(at)), axis.input - 1);
}

int64_t nearest_cell(const AxisScale& axis, bool exact, bool in_double, int64_t o) {
  return in_double ? repeated_cell<double>(axis, exact, o) : repeated_cell<float>(axis, exact, o);
}

AxisTaps axis_taps(Resampling kind, const AxisScale& axis, bool in_double) {
  if (kind == Resampling::linear || kind == Resampling::cubic)
    return interpolation_taps(kind == Resampling::cubic, axis);
  if (kind != Resampling::nearest && kind != Resampling::nearest_exact)
    return antialias_taps(kind, axis);
  AxisTaps taps{1, {}, {}};
  reserve(taps, axis.output, false);
  for (int64_t o = 0; o < axis.output; ++o) {
    taps.cells.push_back(nearest_cell(axis, kind == Resampling::nearest_exact, in_double, o));
  }
  return taps;
}

at::Tensor apply_taps(const at::Tensor& input, int64_t dim, const AxisTaps& taps) {
  const at::Tensor cells = at::index_select(input, dim, on_device_of(input, taps.cells));
  if (taps.weights.empty()) return cells;
  const int64_t results = cells.size(dim) / taps.count;
  return (cells.unflatten(dim, {results, taps.count}) * weights_for(input, dim, taps)).sum(dim + 1);
}

at::Tensor apply_taps_backward(const at::Tensor& grad, int64_t dim, int64_t cells,
                               const AxisTaps& taps) {
  const at::Tensor shares =
      taps.weights.empty()
          ? grad
          : (grad.unsqueeze(dim + 1) * weights_for(grad, dim, taps)).flatten(dim, dim + 1);
  // A table has looked up the rows, so their gradients are summed in a fixed order.
  const at::Tensor rows = shares.movedim(dim, 0).contiguous();
  const at::Tensor total =
      at::embedding_dense_backward(rows.view({rows.size(0), rows.numel() / rows.size(0)}),
                                   on_device_of(grad, taps.cells), cells, -1, false);
  std::vector<int64_t> shape(rows.sizes().begin(), rows.sizes().end());
  shape[0] = cells;
  return total.view(shape).movedim(0, dim);
}

}  // namespace dl::core
