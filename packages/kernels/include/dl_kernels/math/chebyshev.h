// Sum of a Chebyshev series on [-1, 1].
#ifndef DL_KERNELS_MATH_CHEBYSHEV_H_
#define DL_KERNELS_MATH_CHEBYSHEV_H_

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

// Steps k to 1 of Clenshaw's recurrence, without a loop: loops around the sum then vectorize.
template <int k, int N>
DL_FN double clenshaw(const double (&terms)[N], double t, double last, double before) {
  if constexpr (k == 0)
    return t * last - before + terms[0];
  else
    return clenshaw<k - 1>(terms, t, 2 * t * last - before + terms[k], last);
}

// The sum of the first terms. Source: Clenshaw, A note on the summation of Chebyshev series (1955).
template <int count, int N>
DL_FN double chebyshev_sum(const double (&terms)[N], double t) {
  static_assert(count <= N);
  return clenshaw<count - 1>(terms, t, 0, 0);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_CHEBYSHEV_H_
