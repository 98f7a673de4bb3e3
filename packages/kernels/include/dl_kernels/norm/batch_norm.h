// Batch normalization of contiguous tensors, and its gradients, as passes over all channels.
#ifndef DL_KERNELS_NORM_BATCH_NORM_H_
#define DL_KERNELS_NORM_BATCH_NORM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/norm/batch_norm_terms.h"
#include "dl_kernels/norm/channel_passes.h"
#include "dl_kernels/norm/channels.h"
#include "dl_kernels/norm/scaled_norm.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/elements.h"
#include "dl_kernels/parallel/launch.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/batch_norm.h"
#else
#include "dl_kernels/cpu/batch_norm.h"
#endif

DL_KERNELS_BEGIN

template <class T>
struct BatchValue {
  using C = compute_t<T>;
  Reads<T> in;
  DL_FN Pair<C> operator()(C x, int64_t) const { return {x, C(0)}; }
  template <class Pass>
  DL_FN auto over(const Pass& pass) const {
    return pass(*this, in);
  }
};

template <class T>
struct BatchSquare {
  using C = compute_t<T>;
  Reads<T> in;
  const C* mean;
  DL_FN Pair<C> operator()(C x, int64_t c) const {
    const C d = x - mean[c];
    return {d * d, C(0)};
  }
  template <class Pass>
  DL_FN auto over(const Pass& pass) const {
    return pass(*this, in);
  }
};

template <class C>
struct BatchMeanItem {
  C* mean;
  const double* sums;
  double count;
  DL_FN void operator()(int64_t c) const { mean[c] = static_cast<C>(sums[c] / count); }
};

// Compute the spread from the sums of squares or, where these are inaccurate, from the elements.
// The variance may overflow C even if its reciprocal square root does not.
template <class T>
struct BatchSpreadRow {
  using C = compute_t<T>;
  C* mean;
  C* variance;
  C* invstd;
  const double* sums;
  const T* in;
  ChannelShape shape;
  C eps;

  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    const T* const x = in;
    const ChannelShape all = shape;
    C found = static_cast<C>(sums[c] / static_cast<double>(all.count()));
    const bool exact = sum_is_exact(found + eps);
    C mu = C(0), r = C(1) / std::sqrt(found + eps);
    if (!exact) {
      const auto value = [=](int64_t i) {
        const int64_t s = i / all.positions, at = i % all.positions;
        return cast<C>(x[(s * all.channels + c) * all.positions + at]);
      };
      found = static_cast<C>(scaled_statistics(block, all.count(), value, true, eps, &mu, &r));
    }
    const BatchSpreadRow to = *this;
    block.map(1, [=](int64_t) {
      if (!exact) to.mean[c] = mu;
      to.variance[c] = found;
      to.invstd[c] = finite_invstd(r, to.eps);
    });
  }
};

template <class C>
struct BatchAffineItem {
  C* scale;
  C* bias;
  const C* mean;
  const C* variance;
  const C* invstd;  // null: computed from the variance
  BatchParameters<C> parameters;

  DL_FN void operator()(int64_t c) const {
    const C r = invstd == nullptr ? parameters.invstd(variance[c]) : invstd[c];
    const Affine<C> to = parameters.affine(c, mean[c], r);
    scale[c] = to.scale;
    bias[c] = to.bias;
  }
};

template <class T>
struct BatchAffineOutput {
  using C = compute_t<T>;
  Writes<T> out;
  Reads<T> in;
  const C* mean;
  const C* scale;
  const C* bias;
  DL_FN void operator()(C& y, C x, int64_t c) const {
    y = Affine<C>{mean[c], scale[c], bias[c]}(x);
  }
  template <class Pass>
  DL_FN auto over(const Pass& pass) const {
    return pass(*this, out, in);
  }
};

// Channel statistics are computed in training mode, otherwise given without `invstd`. Variances are
// biased: divided by the count.
template <class T, class C>
void batch_norm(const Launch& launch, T* out, const T* in, C* mean, C* variance, C* invstd,
                bool training, const BatchParameters<C>& parameters, const ChannelShape& shape) {
  if (batch_norm_by_channel(launch, out, in, mean, variance, invstd, training, parameters, shape))
    return;
  const int64_t n = shape.channels;
  if (training) {
    const Workspace<double> sums(launch, 2 * n);
    double* first = sums.data();
    double* second = first + n;
    const double count = static_cast<double>(shape.count());
    channel_sums<C>(launch, shape, first, second, BatchValue<T>{{in}});
    each(launch, n, 1, BatchMeanItem<C>{mean, first, count});
    channel_sums<C>(launch, shape, first, second, BatchSquare<T>{{in}, mean});
    rows(launch, n, 1, BatchSpreadRow<T>{mean, variance, invstd, first, in, shape, parameters.eps});
  }
  const Workspace<C> affine(launch, 2 * n);
  C* scale = affine.data();
  C* bias = scale + n;
  each(launch, n, 1,
       BatchAffineItem<C>{scale, bias, mean, variance, training ? invstd : nullptr, parameters});
  each_in_channels(launch, shape, BatchAffineOutput<T>{{out}, {in}, mean, scale, bias});
}

template <class T>
struct BatchDots {
  using C = compute_t<T>;
  Reads<T> grad_output, in;
  const C* mean;
  DL_FN Pair<C> operator()(C grad, C x, int64_t c) const { return {grad, grad * (x - mean[c])}; }
  template <class Pass>
  DL_FN auto over(const Pass& pass) const {
    return pass(*this, grad_output, in);
  }
};

template <class C>
struct BatchTermsItem {
  BatchGradient<C> gradient;
  const double* sums;
  const double* dots;
  C* first;
  C* second;
  C* scale;

  DL_FN void operator()(int64_t c) const {
    const auto terms = gradient.finish(c, sums[c], dots[c]);
    first[c] = terms.first;
    second[c] = terms.second;
    scale[c] = terms.scale;
  }
};

template <class T>
struct BatchInputGradient {
  using C = compute_t<T>;
  Writes<T> grad_input;
  Reads<T> grad_output, in;
  const C* mean;
  const C* first;
  const C* second;
  const C* scale;

  DL_FN void operator()(C& to, C grad, C x, int64_t c) const {
    to = (grad - first[c] - (x - mean[c]) * second[c]) * scale[c];
  }
  template <class Pass>
  DL_FN auto over(const Pass& pass) const {
    return pass(*this, grad_input, grad_output, in);
  }
};

// `grad_input` may be null.
template <class T, class C>
void batch_norm_backward(const Launch& launch, T* grad_input, const T* grad_output, const T* in,
                         const BatchGradient<C>& gradient, const ChannelShape& shape) {
  if (batch_norm_backward_by_channel(launch, grad_input, grad_output, in, gradient, shape)) return;
  const int64_t n = shape.channels;
  const C* mean = gradient.mean;
  const Workspace<double> sums(launch, 2 * n);
  double* dots = sums.data() + n;
  channel_sums<C>(launch, shape, sums.data(), dots, BatchDots<T>{{grad_output}, {in}, mean});
  const Workspace<C> terms(launch, 3 * n);
  C* first = terms.data();
  C* second = first + n;
  C* scale = second + n;
  each(launch, n, 1, BatchTermsItem<C>{gradient, sums.data(), dots, first, second, scale});
  if (grad_input == nullptr) return;
  each_in_channels(
      launch, shape,
      BatchInputGradient<T>{{grad_input}, {grad_output}, {in}, mean, first, second, scale});
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_BATCH_NORM_H_
