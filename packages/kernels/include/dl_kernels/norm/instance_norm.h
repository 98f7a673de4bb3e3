// Instance normalization: statistics for each sample and channel over the dimensions after them.
// Source: Ulyanov et al., Instance Normalization (2016).
#ifndef DL_KERNELS_NORM_INSTANCE_NORM_H_
#define DL_KERNELS_NORM_INSTANCE_NORM_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/layout/dims.h"
#include "dl_kernels/norm/batch_norm_terms.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

// One sample and channel: its mean and reciprocal standard deviation; elements are overwritten by
// the normalized ones or by the gradient.
struct InstanceNormRow {
  double* x;
  double* grad;  // null in the forward pass
  double* sums;  // per row: sums of the gradient, and of its products with the normalized elements
  const double* scale;  // may be null
  const double* bias;   // may be null
  int64_t channels, n;
  double eps;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    double* to = x + row * n;
    const int64_t c = row % channels, width = n;
    const double w = scale == nullptr ? 1.0 : scale[c], shift = bias == nullptr ? 0.0 : bias[c];
    const double count = static_cast<double>(n);
    const double mean = block.sum(n, [=](int64_t i) { return to[i]; }) / count;
    const double squares = block.sum(n, [=](int64_t i) { return (to[i] - mean) * (to[i] - mean); });
    const double r = finite_invstd(1.0 / std::sqrt(squares / count + eps), eps);
    if (grad == nullptr) {
      block.map(n, [=](int64_t i) { to[i] = (to[i] - mean) * r * w + shift; });
      return;
    }
    double* g = grad + row * n;
    const double total = block.sum(n, [=](int64_t i) { return g[i]; });
    const double dot = block.sum(n, [=](int64_t i) { return g[i] * (to[i] - mean) * r; });
    double* const both = sums + row * 2;
    block.map(1, [=](int64_t) {
      both[0] = total;
      both[1] = dot;
    });
    block.map(width, [=](int64_t i) {
      g[i] = w * r * (g[i] - total / count - (to[i] - mean) * r * dot / count);
    });
  }
};

struct InstanceNormParametersItem {
  double* grad_scale;  // may be null
  double* grad_bias;   // may be null
  const double* sums;
  int64_t samples, channels;

  DL_FN void operator()(int64_t c) const {
    double total = 0, dot = 0;
    for (int64_t s = 0; s < samples; ++s) {
      total += sums[(s * channels + c) * 2];
      dot += sums[(s * channels + c) * 2 + 1];
    }
    if (grad_scale != nullptr) grad_scale[c] = dot;
    if (grad_bias != nullptr) grad_bias[c] = total;
  }
};

// The dimensions from `axis` on are normalized over; those between dimension 0 and `axis` are
// flattened to channels.
inline diopiError_t instance_shape(const char* op, const TensorRef& x, int64_t axis,
                                   uint32_t* inside, int64_t* channels) {
  if (x.ndim > kMaxDims) return diopiNoImplement;
  int64_t first;
  DL_TRY(check_dim(op, axis, x.ndim, &first));
  if (x.ndim < 2 || first == 0)
    return fail(op,
                "axis %lld of %lld dimensions is the dimension of the samples; give the first one "
                "to normalize over, 2 for [N, C, ...]",
                (long long)axis, (long long)x.ndim);
  *inside = ((uint32_t(1) << x.ndim) - 1) & ~((uint32_t(1) << first) - 1);
  *channels = 1;
  for (int64_t d = 1; d < first; ++d) *channels *= x.sizes[d];
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_INSTANCE_NORM_H_
