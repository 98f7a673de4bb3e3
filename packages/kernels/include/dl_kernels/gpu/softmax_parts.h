// Partial results of softmax: the running maximum of a part of a row, and the normalizer, which is
// the sum of the exponentials relative to that maximum.
#ifndef DL_KERNELS_GPU_SOFTMAX_PARTS_H_
#define DL_KERNELS_GPU_SOFTMAX_PARTS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace gpu {

// A single instruction, which ignores NaN; NaN still reaches the sum through its exponential.
DL_DEVICE float max_ignoring_nan(float a, float b) { return ::fmaxf(a, b); }
DL_DEVICE double max_ignoring_nan(double a, double b) { return ::fmax(a, b); }

template <class C, int N>
DL_DEVICE C max_of(const C (&x)[N]) {
  C running_max = x[0];
  DL_UNROLL
  for (int j = 1; j < N; ++j) running_max = max_ignoring_nan(running_max, x[j]);
  return running_max;
}

// The sum of exp(x - running maximum). For log-softmax, elements equal to the maximum, each of
// which adds 1, are counted separately: the small terms then keep the digits that the logarithm
// needs near 0.
template <class C>
struct ExponentialSum {
  C ones = 0, rest = 0;

  // Add the exponentials of `shifted` and store them in `exponentials`. `count_maxima`: count the
  // maxima separately, for log-softmax.
  template <int N>
  DL_DEVICE void add(const C (&shifted)[N], bool count_maxima, C (&exponentials)[N]) {
    DL_UNROLL
    for (int j = 0; j < N; ++j) exponentials[j] = math::exp(shifted[j]);
    if (count_maxima) {
      DL_UNROLL
      for (int j = 0; j < N; ++j) {
        const bool one = shifted[j] == C(0);
        ones += one ? C(1) : C(0);
        rest += one ? C(0) : exponentials[j];
      }
    } else {
      DL_UNROLL
      for (int j = 0; j < N; ++j) rest += exponentials[j];
    }
  }
  DL_DEVICE C total() const { return ones + rest; }
  DL_DEVICE C log() const { return math::log1p((ones - C(1)) + rest); }
};

struct AddExponentialSums {
  template <class C>
  DL_DEVICE ExponentialSum<C> operator()(const ExponentialSum<C>& a,
                                         const ExponentialSum<C>& b) const {
    return {a.ones + b.ones, a.rest + b.rest};
  }
};

// Online softmax. Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
template <class C>
struct OnlineSoftmax {
  C running_max = lowest<C>();
  ExponentialSum<C> normalizer;

  template <int N>
  DL_DEVICE void add(const C (&x)[N], bool count_maxima) {
    raise_max(max_ignoring_nan(running_max, max_of(x)));
    if (running_max == lowest<C>()) {
      // If all are NaN, the maximum is -infinity too.
      DL_UNROLL
      for (int j = 0; j < N; ++j) normalizer.rest += x[j] == x[j] ? C(0) : x[j];
      return;
    }
    C shifted[N], exponentials[N];
    DL_UNROLL
    for (int j = 0; j < N; ++j) shifted[j] = x[j] - running_max;
    normalizer.add(shifted, count_maxima, exponentials);
  }
  // If the new maximum is -infinity, nothing greater has been added so far.
  DL_DEVICE void raise_max(C to) {
    if (to != lowest<C>() && to != running_max)
      normalizer = {C(0), normalizer.total() * math::exp(running_max - to)};
    running_max = to;
  }
};

struct JoinSoftmax {
  template <class C>
  DL_DEVICE OnlineSoftmax<C> operator()(OnlineSoftmax<C> a, OnlineSoftmax<C> b) const {
    const C running_max = max_ignoring_nan(a.running_max, b.running_max);
    a.raise_max(running_max);
    b.raise_max(running_max);
    a.normalizer = AddExponentialSums{}(a.normalizer, b.normalizer);
    return a;
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SOFTMAX_PARTS_H_
