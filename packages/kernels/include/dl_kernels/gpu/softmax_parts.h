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

// One instruction, which ignores NaN: NaN reaches the sum through its exponential.
DL_DEVICE float higher(float a, float b) { return ::fmaxf(a, b); }
DL_DEVICE double higher(double a, double b) { return ::fmax(a, b); }

template <class C, int N>
DL_DEVICE C highest_of(const C (&x)[N]) {
  C top = x[0];
  DL_UNROLL
  for (int j = 1; j < N; ++j) top = higher(top, x[j]);
  return top;
}

// The sum of exp(x - running maximum). For log-softmax, elements equal to the maximum, each of
// which adds 1, are counted separately: the small terms then keep the digits that the logarithm
// needs near 0.
template <class C>
struct PowerSum {
  C ones = 0, rest = 0;

  // Add the exponentials of `shifted` and store them in `powers`. `apart`: count the maxima
  // separately, for log-softmax.
  template <int N>
  DL_DEVICE void add(const C (&shifted)[N], bool apart, C (&powers)[N]) {
    DL_UNROLL
    for (int j = 0; j < N; ++j) powers[j] = math::exp(shifted[j]);
    if (apart) {
      DL_UNROLL
      for (int j = 0; j < N; ++j) {
        const bool one = shifted[j] == C(0);
        ones += one ? C(1) : C(0);
        rest += one ? C(0) : powers[j];
      }
    } else {
      DL_UNROLL
      for (int j = 0; j < N; ++j) rest += powers[j];
    }
  }
  DL_DEVICE C total() const { return ones + rest; }
  DL_DEVICE C log() const { return math::log1p((ones - C(1)) + rest); }
};

struct AddPowers {
  template <class C>
  DL_DEVICE PowerSum<C> operator()(const PowerSum<C>& a, const PowerSum<C>& b) const {
    return {a.ones + b.ones, a.rest + b.rest};
  }
};

// Online softmax. Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
template <class C>
struct Softened {
  C top = lowest<C>();
  PowerSum<C> sum;

  template <int N>
  DL_DEVICE void add(const C (&x)[N], bool apart) {
    raise(higher(top, highest_of(x)));
    if (top == lowest<C>()) {
      // If all are NaN, the maximum is -infinity too.
      DL_UNROLL
      for (int j = 0; j < N; ++j) sum.rest += x[j] == x[j] ? C(0) : x[j];
      return;
    }
    C shifted[N], powers[N];
    DL_UNROLL
    for (int j = 0; j < N; ++j) shifted[j] = x[j] - top;
    sum.add(shifted, apart, powers);
  }
  // If the new maximum is -infinity, nothing greater has been added so far.
  DL_DEVICE void raise(C to) {
    if (to != lowest<C>() && to != top) sum = {C(0), sum.total() * math::exp(top - to)};
    top = to;
  }
};

struct Join {
  template <class C>
  DL_DEVICE Softened<C> operator()(Softened<C> a, Softened<C> b) const {
    const C top = higher(a.top, b.top);
    a.raise(top);
    b.raise(top);
    a.sum = AddPowers{}(a.sum, b.sum);
    return a;
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SOFTMAX_PARTS_H_
