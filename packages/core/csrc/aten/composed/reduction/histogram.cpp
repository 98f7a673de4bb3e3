// bincount, histc and histogram. A histogram is computed as the gradient of an embedding, which
// sums rows by index. The sums are in double, so that counts are exact.
#include <ATen/core/Tensor.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/div.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/le.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"
#include "aten/plans/checks.h"

namespace dl::core::composed {
namespace {

using Range = std::optional<at::ArrayRef<double>>;
using Pair = std::tuple<at::Tensor, at::Tensor>;
using References = std::tuple<at::Tensor&, at::Tensor&>;

bool given(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

// The sum of the weights in each bin, or its number of elements; in double.
at::Tensor tally(const at::Tensor& bin, const OptionalTensor& weights, int64_t bins) {
  const at::Tensor each = given(weights)
                              ? weights->reshape({-1, 1}).to(at::kDouble)
                              : at::ones({bin.numel(), 1}, bin.options().dtype(at::kDouble));
  if (bins == 0 || bin.numel() == 0) return at::zeros({bins}, each.options());
  return at::embedding_dense_backward(each, bin.reshape({-1}), bins, -1, false).view({bins});
}

at::Tensor bincount(const at::Tensor& self, const OptionalTensor& weights, int64_t minlength) {
  const bool takes =
      self.dim() == 1 && at::isIntegralType(self.scalar_type(), false) && minlength >= 0 &&
      self.numel() > 0 &&
      (!given(weights) || (weights->sizes() == self.sizes() && plans::is_real(*weights) &&
                           weights->device() == self.device()));
  if (!takes || at::min(self).item<int64_t>() < 0)
    return on_cpu<"bincount", decltype(bincount)>(self, weights, minlength);
  if (given(weights) && wants_fixed_order(self)) alert_open_order("bincount");
  const int64_t bins = std::max(at::max(self).item<int64_t>() + 1, minlength);
  const at::Tensor sums = tally(self.to(at::kLong), weights, bins);
  if (!given(weights)) return sums.to(at::kLong);
  return weights->scalar_type() == at::kFloat ? sums.to(at::kFloat) : sums;
}

// Range of a histogram: as given, or computed from the data; never empty.
bool bounds_of(const at::Tensor& self, double& low, double& high) {
  if (low == high && self.numel() > 0) {
    low = at::min(self).item<double>();
    high = at::max(self).item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  return std::isfinite(low) && std::isfinite(high) && low < high;
}

// Supports integers, as on CUDA; torch's CPU kernel does not.
at::Tensor histc(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                 const at::Scalar& max) {
  double low = 0, high = 0;
  const bool counts = self.is_floating_point() || at::isIntegralType(self.scalar_type(), false);
  const bool takes = counts && bins > 0 && !min.isComplex() && !max.isComplex();
  if (takes) {
    low = min.toDouble();
    high = max.toDouble();
  }
  if (!takes || !bounds_of(self, low, high))
    return on_cpu<"histc", decltype(histc)>(self, bins, min, max);
  // Integers are exact in double up to 2^53; beyond it, bins are wider than the rounding error.
  const at::Tensor values = self.is_floating_point() ? self : self.to(at::kDouble);
  const at::Tensor inside = at::logical_and(at::ge(values, low), at::le(values, high));
  // Elements outside the range, including NaN, are assigned to the first bin with weight 0.
  const at::Tensor shifted =
      at::where(inside, at::sub(values, low), at::scalar_tensor(0, values.options()));
  const at::Tensor bin =
      at::clamp(at::div(at::mul(shifted, bins), high - low).to(at::kLong), 0, bins - 1);
  return tally(bin, inside, bins).to(self.scalar_type());
}

at::Tensor& histc_out(const at::Tensor& self, int64_t bins, const at::Scalar& min,
                      const at::Scalar& max, at::Tensor& out) {
  if (out.scalar_type() != self.scalar_type())
    return on_cpu<"histc.out", decltype(histc_out)>(self, bins, min, max, out);
  return write_to(out, composed::histc(self, bins, min, max));
}

bool bins_fit(const at::Tensor& self, const at::Tensor& edges, const OptionalTensor& weight) {
  return (self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble) &&
         self.scalar_type() == edges.scalar_type() && self.device() == edges.device() &&
         edges.dim() == 1 && edges.numel() > 1 &&
         (!given(weight) ||
          (weight->sizes() == self.sizes() && weight->scalar_type() == self.scalar_type() &&
           weight->device() == self.device()));
}

// Bins are half-open, except for the last one.
Pair count_in_bins(const at::Tensor& self, const at::Tensor& edges, const OptionalTensor& weight,
                   bool density) {
  const int64_t bins = edges.numel() - 1;
  const at::Tensor flat = self.reshape({-1});
  const at::Tensor first = edges.narrow(0, 0, 1), last = edges.narrow(0, bins, 1);
  const at::Tensor inside = at::logical_and(at::ge(flat, first), at::le(flat, last));
  const at::Tensor bin = at::clamp(
      at::sub(at::searchsorted(edges, flat, /*out_int32=*/false, /*right=*/true), 1), 0, bins - 1);
  at::Tensor each = inside.to(at::kDouble);
  if (given(weight))
    each = at::where(inside, weight->reshape({-1}).to(at::kDouble), at::zeros({}, each.options()));
  at::Tensor sums = tally(bin, each, bins).to(self.scalar_type());
  if (density) {
    const at::Tensor width = at::sub(edges.narrow(0, 1, bins), edges.narrow(0, 0, bins));
    sums = at::div(at::div(sums, at::sum(sums)), width);
  }
  return {sums, edges};
}

Pair histogram(const at::Tensor& self, const at::Tensor& bins, const OptionalTensor& weight,
               bool density) {
  if (!bins_fit(self, bins, weight)) {
    return on_cpu<"histogram.bins_tensor", decltype(histogram)>(self, bins, weight, density);
  }
  return count_in_bins(self, bins.clone(), weight, density);
}

Pair histogram_even(const at::Tensor& self, int64_t bins, Range range, const OptionalTensor& weight,
                    bool density) {
  double low = range && range->size() == 2 ? (*range)[0] : 0;
  double high = range && range->size() == 2 ? (*range)[1] : 0;
  const bool takes = self.is_floating_point() && bins > 0 && (!range || range->size() == 2) &&
                     self.numel() > 0 && (!range || low <= high);
  if (takes && !range) {
    low = at::min(self).item<double>();
    high = at::max(self).item<double>();
  }
  if (takes && low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const at::Tensor edges = takes && std::isfinite(low) && std::isfinite(high)
                               ? at::linspace(low, high, bins + 1, self.options())
                               : at::Tensor();
  if (!edges.defined() || !bins_fit(self, edges, weight)) {
    return on_cpu<"histogram.bin_ct", decltype(histogram_even)>(self, bins, range, weight, density);
  }
  return count_in_bins(self, edges, weight, density);
}

// As in torch, outputs must have the dtype of the input.
void check_histogram(const at::Tensor& self, const at::Tensor& hist, const at::Tensor& edges) {
  TORCH_CHECK(hist.dtype() == self.dtype(),
              "torch.histogram: input tensor and hist tensor should have the same dtype, but got "
              "input ",
              self.dtype(), " and hist ", hist.dtype());
  TORCH_CHECK(edges.dtype() == self.dtype(),
              "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but "
              "got input ",
              self.dtype(), " and bin_edges ", edges.dtype());
}

References write_histogram(const Pair& made, at::Tensor& hist, at::Tensor& edges) {
  write_to(hist, std::get<0>(made));
  write_to(edges, std::get<1>(made));
  return {hist, edges};
}

References histogram_out(const at::Tensor& self, const at::Tensor& bins,
                         const OptionalTensor& weight, bool density, at::Tensor& hist,
                         at::Tensor& edges) {
  check_histogram(self, hist, edges);
  return write_histogram(composed::histogram(self, bins, weight, density), hist, edges);
}

References histogram_even_out(const at::Tensor& self, int64_t bins, Range range,
                              const OptionalTensor& weight, bool density, at::Tensor& hist,
                              at::Tensor& edges) {
  check_histogram(self, hist, edges);
  return write_histogram(histogram_even(self, bins, range, weight, density), hist, edges);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("bincount", bincount);
  DL_COMPOSED("histc", histc);
  DL_COMPOSED("histc.out", histc_out);
  DL_COMPOSED("histogram.bin_ct", histogram_even);
  DL_COMPOSED("histogram.bin_ct_out", histogram_even_out);
  DL_COMPOSED("histogram.bins_tensor", histogram);
  DL_COMPOSED("histogram.bins_tensor_out", histogram_out);
}

}  // namespace dl::core::composed
