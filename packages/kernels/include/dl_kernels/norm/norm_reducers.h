// Reducers of vector norms; reduce/reduce.h defines the interface of a reducer. Reducers of powers
// detect inexact sums and repeat them with scaling (ChecksRange in cpu/reduce_loops.h).
#ifndef DL_KERNELS_NORM_NORM_REDUCERS_H_
#define DL_KERNELS_NORM_NORM_REDUCERS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/norm/scaled_norm.h"

DL_KERNELS_BEGIN

// Σ |x|^p for the orders p that need no final root.
template <class A, int P>
struct PowerSum {
  using Acc = A;
  using Wide = double;
  Acc start = 0;
  DL_FN Acc map(A x) const {
    if constexpr (P == 0) return x != A(0) ? A(1) : A(0);
    return std::fabs(x);
  }
  template <class T>
  DL_FN T combine(T a, T b) const {
    return a + b;
  }
  DL_FN Acc finish(Wide total) const { return static_cast<Acc>(total); }
};

template <class A>
struct SquareSum {
  using Acc = A;
  // Squares of floats fit into doubles; squares of doubles need a scaled sum.
  using Wide = std::conditional_t<std::is_same_v<A, double>, ScaledSum, double>;
  Acc start = 0;
  DL_FN Acc map(A x) const { return x * x; }
  template <class T>
  DL_FN T combine(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, ScaledSum>) {
      return add_scaled(a, b, 2);
    } else {
      return a + b;
    }
  }
  DL_FN Acc finish(const Wide& total) const {
    if constexpr (std::is_same_v<Wide, ScaledSum>) {
      return total.root(2);
    } else {
      return static_cast<Acc>(std::sqrt(total));
    }
  }

  bool is_exact(Acc total) const { return sum_is_exact(total); }
  template <class B, class F>
  Wide exact_sum(const B& block, int64_t n, const F& size) const {
    if constexpr (std::is_same_v<Wide, ScaledSum>) {
      return scaled_sum(block, n, size, 2);
    } else {
      return block.sum(n, [=](int64_t i) { return size(i) * size(i); });
    }
  }
};

template <class A>
struct AnyPowerSum {
  using Acc = A;
  using Wide = ScaledSum;
  Acc start = 0;
  double p = 1;
  DL_FN Acc map(A x) const { return std::pow(std::fabs(x), static_cast<A>(p)); }
  template <class T>
  DL_FN T combine(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, ScaledSum>) {
      return add_scaled(a, b, p);
    } else {
      return a + b;
    }
  }
  DL_FN Acc finish(const Wide& total) const { return static_cast<Acc>(total.root(p)); }

  bool is_exact(Acc total) const { return sum_is_exact(total); }
  template <class B, class F>
  Wide exact_sum(const B& block, int64_t n, const F& size) const {
    return scaled_sum(block, n, size, p);
  }
};

template <class A, bool Largest>
struct ExtremeMagnitude {
  using Acc = A;
  using Wide = A;
  Acc start = Largest ? A(0) : highest<A>();
  DL_FN A map(A x) const { return std::fabs(x); }
  DL_FN A combine(A a, A b) const { return Largest ? max_nan(a, b) : min_nan(a, b); }
  DL_FN A finish(A total) const { return total; }
};

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_NORM_REDUCERS_H_
