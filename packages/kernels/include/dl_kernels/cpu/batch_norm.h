// Batch normalization on the CPU for layouts in which the positions of a channel are adjacent: one
// thread processes a channel while it is cached.
#ifndef DL_KERNELS_CPU_BATCH_NORM_H_
#define DL_KERNELS_CPU_BATCH_NORM_H_

#include <cstdint>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/norm/batch_norm_terms.h"
#include "dl_kernels/norm/channels.h"
#include "dl_kernels/norm/scaled_norm.h"

DL_KERNELS_BEGIN

// Call f(first) with the first element of channel `c` of every sample.
template <class F>
DL_FN void each_sample(const ChannelShape& shape, int64_t c, const F& f) {
  for (int64_t s = 0; s < shape.samples; ++s) f((s * shape.channels + c) * shape.positions);
}

// The sums of f(i).first and f(i).second over all positions of channel `c`.
template <class C, class F>
Pair<double> channel_sum_pair(const Block& block, const ChannelShape& shape, int64_t c,
                              const F& f) {
  // Number of samples with few positions that are added to the same lanes.
  constexpr int64_t kShort = 64, kSamples = 256;
  Pair<double> total{0, 0};
  if (shape.positions > kShort) {
    each_sample(shape, c, [&](int64_t at) {
      const Pair<double> part =
          block.sum_pair(shape.positions, [&](int64_t i) { return f(at + i); });
      total = {total.first + part.first, total.second + part.second};
    });
    return total;
  }
  for (int64_t start = 0; start < shape.samples; start += kSamples) {
    const int64_t stop = start + kSamples < shape.samples ? start + kSamples : shape.samples;
    alignas(64) C a[kShort] = {}, b[kShort] = {};
    for (int64_t s = start; s < stop; ++s) {
      const int64_t at = (s * shape.channels + c) * shape.positions;
      DL_VECTOR_LOOP
      for (int64_t i = 0; i < shape.positions; ++i) {
        const Pair<C> both = f(at + i);
        a[i] += both.first;
        b[i] += both.second;
      }
    }
    for (int64_t i = 0; i < shape.positions; ++i) {
      total.first += static_cast<double>(a[i]);
      total.second += static_cast<double>(b[i]);
    }
  }
  return total;
}

template <class T>
struct BatchNormRow {
  using C = compute_t<T>;
  T* out;
  const T* in;
  C* mean;
  C* variance;  // biased variance: divided by the count
  C* invstd;
  bool training;
  BatchParameters<C> parameters;
  ChannelShape shape;

  template <class B>
  DL_FN void operator()(const B& block, int64_t c) const {
    const T* x = in;
    T* y = out;
    if (training) {
      const double count = static_cast<double>(shape.count());
      double sum = 0, squares = 0;
      each_sample(shape, c, [&](int64_t at) {
        sum += static_cast<double>(
            block.sum(shape.positions, [=](int64_t i) { return cast<C>(x[at + i]); }));
      });
      const C center = static_cast<C>(sum / count);
      each_sample(shape, c, [&](int64_t at) {
        squares += static_cast<double>(block.sum(shape.positions, [=](int64_t i) {
          const C d = cast<C>(x[at + i]) - center;
          return d * d;
        }));
      });
      mean[c] = center;
      variance[c] = static_cast<C>(squares / count);
      invstd[c] = parameters.invstd(variance[c]);
      // The variance may overflow C although its reciprocal square root does not.
      if (!sum_is_exact(variance[c] + parameters.eps)) {
        const ChannelShape& all = shape;
        const auto value = [&all, x, c](int64_t i) {
          const int64_t s = i / all.positions, at = i % all.positions;
          return cast<C>(x[(s * all.channels + c) * all.positions + at]);
        };
        variance[c] = static_cast<C>(scaled_statistics(block, all.count(), value, true,
                                                       parameters.eps, mean + c, invstd + c));
      }
      invstd[c] = finite_invstd(invstd[c], parameters.eps);
    }
    const C r = training ? invstd[c] : parameters.invstd(variance[c]);
    const Affine<C> to = parameters.affine(c, mean[c], r);
    each_sample(shape, c, [&](int64_t at) {
      block.map(shape.positions, [=](int64_t i) { y[at + i] = cast<T>(to(cast<C>(x[at + i]))); });
    });
  }
};

template <class T>
struct BatchBackwardRow {
  using C = compute_t<T>;
  T* grad_input;  // may be null
  const T* grad_output;
  const T* in;
  BatchGradient<C> gradient;
  ChannelShape shape;

  void operator()(const Block& block, int64_t c) const {
    const T* g = grad_output;
    const T* x = in;
    const C mu = gradient.mean[c];
    const Pair<double> sums = channel_sum_pair<C>(block, shape, c, [=](int64_t i) {
      const C grad = cast<C>(g[i]);
      return Pair<C>{grad, grad * (cast<C>(x[i]) - mu)};
    });
    const auto terms = gradient.finish(c, sums.first, sums.second);
    if (grad_input == nullptr) return;
    T* to = grad_input;
    each_sample(shape, c, [&](int64_t at) {
      block.map(shape.positions, [=](int64_t i) {
        to[at + i] =
            cast<T>((cast<C>(g[at + i]) - terms.first - (cast<C>(x[at + i]) - mu) * terms.second) *
                    terms.scale);
      });
    });
  }
};

// Return false, with nothing done, for channels-last layouts.
template <class T, class C>
bool batch_norm_by_channel(const Launch& launch, T* out, const T* in, C* mean, C* variance,
                           C* invstd, bool training, const BatchParameters<C>& parameters,
                           const ChannelShape& shape) {
  if (shape.positions < 2) return false;
  rows(launch, shape.channels, shape.count() * 3,
       BatchNormRow<T>{out, in, mean, variance, invstd, training, parameters, shape});
  return true;
}

template <class T, class C>
bool batch_norm_backward_by_channel(const Launch& launch, T* grad_input, const T* grad_output,
                                    const T* in, const BatchGradient<C>& gradient,
                                    const ChannelShape& shape) {
  if (shape.positions < 2) return false;
  rows(launch, shape.channels, shape.count() * 4,
       BatchBackwardRow<T>{grad_input, grad_output, in, gradient, shape});
  return true;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_BATCH_NORM_H_
