// Statistics of batch normalization as processes exchange them (SyncBatchNorm): a mean and a
// reciprocal standard deviation per channel. They are combined as in Chan, Golub and LeVeque,
// Updating formulae and a pairwise algorithm for computing sample variances (1979).
#ifndef DL_KERNELS_NORM_BATCH_STATISTICS_H_
#define DL_KERNELS_NORM_BATCH_STATISTICS_H_

#include <cmath>

#include "dl_kernels/base/wide.h"
#include "dl_kernels/norm/batch_norm_terms.h"
#include "dl_kernels/norm/channel_steps.h"

DL_KERNELS_BEGIN

// Accumulate dtype for sums of elements of a dtype.
inline diopiDtype_t sums_dtype(diopiDtype_t dtype) {
  return dtype == diopi_dtype_float64 ? dtype : diopi_dtype_float32;
}

// Check vectors with one element per channel; null ones are absent.
inline diopiError_t check_channels(const char* op, diopiDtype_t dtype, int64_t channels,
                                   std::initializer_list<diopiConstTensorHandle_t> vectors) {
  for (diopiConstTensorHandle_t vector : vectors) {
    if (vector == nullptr) continue;
    if (ref(vector).dtype != dtype) return diopiDtypeNotSupported;
    DL_TRY(check_sizes(op, "a tensor of channels", ref(vector), {channels}));
  }
  return diopiSuccess;
}

// Check an input [N, C, ...] and its vectors.
inline diopiError_t open_batch(const char* op, const TensorRef& input,
                               std::initializer_list<diopiConstTensorHandle_t> vectors,
                               ChannelSizes* sizes) {
  if (!alike<kFloats>({input})) return diopiDtypeNotSupported;
  if (input.ndim < 2)
    return fail(op, "the input has %lld dimensions; it needs [N, C, ...]", (long long)input.ndim);
  *sizes = {input.sizes[0], input.sizes[1], 1};
  for (int64_t d = 2; d < input.ndim; ++d) sizes->cells *= input.sizes[d];
  return check_channels(op, sums_dtype(input.dtype), sizes->channels, vectors);
}

struct InverseItem {
  double* var;
  double eps;
  DL_FN void operator()(int64_t c) const {
    var[c] = finite_invstd(1 / std::sqrt(var[c] + eps), eps);
  }
};

struct JoinStatisticsItem {
  double *mean, *invstd, *running_mean, *running_var;  // the running statistics may be null
  const double *means, *inverses, *counts;
  int64_t processes, channels;
  double momentum, eps;
  DL_FN void operator()(int64_t c) const {
    double count = 0, mean_so_far = 0, squares = 0;
    for (int64_t p = 0; p < processes; ++p) {
      const double more = counts[p], deviation = 1 / inverses[p * channels + c];
      if (more == 0) continue;
      const double delta = means[p * channels + c] - mean_so_far;
      squares +=
          (deviation * deviation - eps) * more + delta * delta * count * more / (count + more);
      count += more;
      mean_so_far += delta * more / count;
    }
    mean[c] = mean_so_far;
    invstd[c] = 1 / std::sqrt(squares / count + eps);
    if (running_mean != nullptr)
      running_mean[c] = momentum * mean_so_far + (1 - momentum) * running_mean[c];
    if (running_var != nullptr)
      running_var[c] =
          momentum * squares / (count > 1 ? count - 1 : 1) + (1 - momentum) * running_var[c];
  }
};

// Any of the four results may be null.
struct ReduceGradientRow {
  double *dy, *xmu, *weight, *bias;
  const double *grad, *input, *mean, *invstd;
  ChannelSizes s;
  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    const double *const g = grad, *const x = input;
    const double mean_so_far = mean[c], inverse = invstd[c];
    const ChannelSizes sizes = s;
    const double sum =
        block.sum(sizes.count(), [=](int64_t i) { return g[sizes.offset_of(c, i)]; });
    const double products = block.sum(sizes.count(), [=](int64_t i) {
      return g[sizes.offset_of(c, i)] * (x[sizes.offset_of(c, i)] - mean_so_far);
    });
    const ReduceGradientRow to = *this;
    block.map(1, [=](int64_t) {
      if (to.dy != nullptr) to.dy[c] = sum;
      if (to.xmu != nullptr) to.xmu[c] = products;
      if (to.weight != nullptr) to.weight[c] = products * inverse;
      if (to.bias != nullptr) to.bias[c] = sum;
    });
  }
};

struct TotalRow {
  double* out;
  const double* values;
  int64_t count;
  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const double* const from = values;
    const double sum = block.sum(count, [=](int64_t i) { return from[i]; });
    double* const to = out;
    block.map(1, [=](int64_t) { *to = sum; });
  }
};

struct JoinedGradientItem {
  double* out;
  const double *grad, *input, *mean, *invstd, *weight, *dy, *xmu, *total;  // weight may be null
  ChannelSizes s;
  DL_FN void operator()(int64_t i) const {
    const int64_t c = i / s.cells % s.channels;
    const double scale = invstd[c] * (weight == nullptr ? 1 : weight[c]);
    const double along = (input[i] - mean[c]) * invstd[c] * invstd[c] * xmu[c] / *total;
    out[i] = (grad[i] - dy[c] / *total - along) * scale;
  }
};

struct ApplyStatisticsItem {
  double* out;
  const double *input, *weight, *bias, *mean, *invstd;  // weight and bias may be null
  ChannelSizes s;
  DL_FN void operator()(int64_t i) const {
    const int64_t c = i / s.cells % s.channels;
    const double x = (input[i] - mean[c]) * invstd[c];
    out[i] = x * (weight == nullptr ? 1 : weight[c]) + (bias == nullptr ? 0 : bias[c]);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_BATCH_STATISTICS_H_
