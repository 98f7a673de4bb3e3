// Cross entropy of logits and targets, which are class indices or probabilities; one row per
// target.
#ifndef DL_KERNELS_NORM_CROSS_ENTROPY_H_
#define DL_KERNELS_NORM_CROSS_ENTROPY_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/loss_reduction.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/index/class_targets.h"
#include "dl_kernels/norm/wide_rows.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/reduce/pair_sum.h"

DL_KERNELS_BEGIN

// Factors of the log-probabilities of each row.
struct TargetShares {
  const int64_t* classes;       // null: probabilities
  const double* probabilities;  // [row, class]
  const double* weight;         // may be null
  int64_t count, ignored;
  double smoothing;

  DL_FN bool counts(int64_t row) const { return classes == nullptr || classes[row] != ignored; }
  DL_FN double weight_of(int64_t c) const { return weight == nullptr ? 1.0 : weight[c]; }
  // Contribution of a row to the divisor of the mean.
  DL_FN double total(int64_t row) const {
    if (!counts(row)) return 0;
    return classes == nullptr ? 1.0 : weight_of(classes[row]);
  }
  DL_FN double share(int64_t row, int64_t c) const {
    const double own = classes == nullptr  ? probabilities[row * count + c]
                       : classes[row] == c ? 1.0
                                           : 0.0;
    return weight_of(c) * (own * (1 - smoothing) + smoothing / static_cast<double>(count));
  }
};

// Compute losses[row] or, if `grad` is not null, overwrite the logits by the gradient.
struct CrossEntropyRow {
  double* logits;
  double* losses;
  const double* grad;     // one element, or one per row if `each`
  const double* divisor;  // of the gradient; may be null
  TargetShares targets;
  bool each;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    double* x = logits + row * targets.count;
    const TargetShares of = targets;
    // A row that does not count has nothing to sum. It is not skipped: PoCL 6 corrupts memory if
    // only some rows reach the barriers of the sums.
    const bool counts = of.counts(row), gradient = grad != nullptr;
    const int64_t n = counts ? of.count : 0;
    const double row_max = block.reduce(
        n, lowest<double>(), [](double a, double b) { return max_nan(a, b); },
        [=](int64_t c) { return x[c]; });
    const double normalizer = block.sum(n, [=](int64_t c) { return std::exp(x[c] - row_max); });
    const double log = std::log(normalizer);
    const double sum = block.sum(n, [=](int64_t c) {
      const double share = of.share(row, c);
      return gradient || share == 0 ? share : share * (log - (x[c] - row_max));
    });
    if (!gradient) {
      double* const loss = losses + row;
      block.map(1, [=](int64_t) { *loss = sum; });
      return;
    }
    const double g = grad[each ? row : 0] / (divisor == nullptr ? 1.0 : *divisor);
    block.map(of.count, [=](int64_t c) {
      x[c] = counts ? g * (std::exp(x[c] - row_max) / normalizer * sum - of.share(row, c)) : 0.0;
    });
  }
};

// Loss and divisor of a target.
struct CrossEntropyTerm {
  const double* losses;  // null if not requested
  TargetShares targets;
  DL_FN Pair<double> operator()(int64_t row) const {
    return {losses == nullptr ? 0.0 : losses[row], targets.total(row)};
  }
};

struct CrossEntropyResult {
  double* out;
  const Pair<double>* sums;
  bool mean;
  DL_FN void operator()(int64_t) const { *out = sums->first / (mean ? sums->second : 1.0); }
};

struct DivisorItem {
  double* out;
  const Pair<double>* sums;
  DL_FN void operator()(int64_t) const { *out = sums->second; }
};

// Write the loss to `result` or, if `grad_output` is not null, the gradient of the logits.
inline diopiError_t cross_entropy(diopiContextHandle_t ctx, const char* op, const TensorRef& result,
                                  const TensorRef* grad_output, const TensorRef& x,
                                  const TensorRef& t, diopiConstTensorHandle_t weight,
                                  diopiReduction_t reduction, int64_t ignore_index,
                                  double smoothing) {
  const bool classes = t.dtype == diopi_dtype_int64;
  if (result.dtype != x.dtype || !is_floating(x.dtype) || (!classes && t.dtype != x.dtype) ||
      (grad_output != nullptr && grad_output->dtype != x.dtype))
    return diopiDtypeNotSupported;
  if (x.ndim > kMaxDims || t.ndim > kMaxDims) return diopiNoImplement;
  if (x.ndim == 0) return fail(op, "the input has no dimensions; it needs one for classes");
  const int64_t dim = x.ndim > 1 ? 1 : 0, count = x.sizes[dim];
  bool fits = t.ndim == x.ndim - (classes ? 1 : 0);
  for (int64_t d = 0; fits && d < t.ndim; ++d)
    fits = t.sizes[d] == x.sizes[classes && d >= dim ? d + 1 : d];
  if (!fits)
    return fail(op, "the target has neither the shape of the input nor that of its classes");
  const WideRows logits(ctx, x, uint32_t(1) << dim);
  const int64_t targets = logits.rows();
  DL_TRY(check_weights(op, weight, nullptr, count));
  if (grad_output == nullptr) {
    DL_TRY(check_reduced(op, "the output", result, reduction, targets));
  } else if (!same_shape(result, x)) {
    return fail(op, "grad_input does not have the shape of the input");
  } else {
    DL_TRY(check_reduced(op, "grad_output", *grad_output, reduction, targets));
  }
  const Launch launch(ctx);
  CheckedIndexes checked;
  const DenseInput<int64_t> given(ctx, op, classes ? &t : nullptr);
  const DenseInput<double> w(ctx, op, weight), grad(ctx, op, grad_output);
  DL_TRY(first_status(given, w, grad));
  if (classes)
    DL_TRY(check_targets(launch, op, given.data(), targets, count, ignore_index, checked));
  const WideRows shares(ctx, classes ? x : t, uint32_t(1) << dim);
  if (!classes) DL_TRY(shares.read(ctx, op));
  DL_TRY(logits.read(ctx, op));
  const TargetShares of{
      classes ? checked.data() : nullptr, shares.data(), w.data(), count, ignore_index, smoothing};
  const bool mean = reduction == ReductionMean, none = reduction == ReductionNone;
  const Workspace<double> losses(launch, targets + 1);
  const Workspace<Pair<double>> sums(launch, 1);
  double* const single = losses.data() + targets;
  if (grad_output != nullptr) {
    pair_sum(launch, targets, CrossEntropyTerm{nullptr, of}, sums.data());
    each(launch, 1, 1, DivisorItem{single, sums.data()});
    rows(launch, targets, count * 8,
         CrossEntropyRow{logits.data(), nullptr, grad.data(), mean ? single : nullptr, of, none});
    const WideRows to(ctx, result, uint32_t(1) << dim);
    copy_bytes(launch, to.data(), logits.data(), x.numel * 8);
    return to.write(ctx, op);
  }
  rows(launch, targets, count * 8,
       CrossEntropyRow{logits.data(), losses.data(), nullptr, nullptr, of, none});
  const DenseOutput<double> out(ctx, op, result);
  DL_TRY(out.status());
  if (none) {
    copy_bytes(launch, out.data(), losses.data(), targets * 8);
  } else {
    pair_sum(launch, targets, CrossEntropyTerm{losses.data(), of}, sums.data());
    each(launch, 1, 1, CrossEntropyResult{out.data(), sums.data(), mean});
  }
  return out.finish();
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_CROSS_ENTROPY_H_
