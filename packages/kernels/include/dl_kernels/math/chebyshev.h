// Sum of a Chebyshev series on [-1, 1].
#ifndef DL_KERNELS_MATH_CHEBYSHEV_H_
#define DL_KERNELS_MATH_CHEBYSHEV_H_

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

// Clenshaw's recurrence. Source: Clenshaw, A note on the summation of Chebyshev series (1955).
template <int N>
DL_FN double chebyshev_sum(const double (&terms)[N], double t) {
  double last = 0, before = 0;
  for (int k = N - 1; k > 0; --k) {
    const double sum = 2 * t * last - before + terms[k];
    before = last;
    last = sum;
  }
  return t * last - before + terms[0];
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_CHEBYSHEV_H_
