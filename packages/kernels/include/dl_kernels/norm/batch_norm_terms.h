// Per-channel formulas of batch normalization and its gradients.
#ifndef DL_KERNELS_NORM_BATCH_NORM_TERMS_H_
#define DL_KERNELS_NORM_BATCH_NORM_TERMS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// y = (x − mean) · scale + bias, for one channel. Folding the mean into the bias would cost digits:
// both products are as large as mean · scale, and may overflow where y does not.
template <class C>
struct Affine {
  C mean, scale, bias;
  DL_FN C operator()(C x) const { return (x - mean) * scale + bias; }
};

// As in torch, a batch of equal elements is scaled by 0 instead of infinity if eps is 0.
template <class C>
DL_FN C finite_invstd(C invstd, C eps) {
  return eps == C(0) && invstd == C(HUGE_VAL) ? C(0) : invstd;
}

template <class C>
struct BatchParameters {
  const C* weight;  // may be null
  const C* bias;    // may be null
  C eps;

  DL_FN C invstd(C variance) const { return C(1) / std::sqrt(variance + eps); }
  DL_FN Affine<C> affine(int64_t c, C mean, C invstd_of) const {
    return {mean, invstd_of * (weight == nullptr ? C(1) : weight[c]),
            bias == nullptr ? C(0) : bias[c]};
  }
};

// grad_input = (g − first − (x − mean) · second) · scale, from the sums of g and of g · (x − mean).
template <class C>
struct BatchGradient {
  const C* weight;  // may be null
  const C* mean;
  const C* invstd;
  C* grad_weight;  // may be null
  C* grad_bias;    // may be null
  double count;
  bool training;

  struct Terms {
    C first, second, scale;
  };

  DL_FN Terms finish(int64_t c, double sum, double dot) const {
    const C r = invstd[c];
    if (grad_weight != nullptr) grad_weight[c] = static_cast<C>(dot * static_cast<double>(r));
    if (grad_bias != nullptr) grad_bias[c] = static_cast<C>(sum);
    const C scale = r * (weight == nullptr ? C(1) : weight[c]);
    if (!training) return {C(0), C(0), scale};
    const double square = static_cast<double>(r) * static_cast<double>(r);
    return {static_cast<C>(sum / count), static_cast<C>(dot / count * square), scale};
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_BATCH_NORM_TERMS_H_
