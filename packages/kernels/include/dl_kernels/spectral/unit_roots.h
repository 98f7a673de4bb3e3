// Roots of unity, and the factorization of a length.
#ifndef DL_KERNELS_SPECTRAL_UNIT_ROOTS_H_
#define DL_KERNELS_SPECTRAL_UNIT_ROOTS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"

DL_KERNELS_BEGIN

// exp(-2πi · p / q), or its conjugate, for 0 <= p < q. The angle is reduced to an eighth of the
// circle in integers, so that exact values, such as exp(-πi / 2), are exact.
template <class R>
DL_FN Complex<R> unit_root(int64_t p, int64_t q, bool forward) {
  const bool below = 2 * p > q;
  if (below) p = q - p;
  // From here on, the angle is π · p / q.
  p *= 2;
  const bool reflected = 2 * p > q;
  if (reflected) p = q - p;
  const bool swapped = 4 * p > q;
  const double angle = 3.14159265358979323846 *
                       (swapped ? static_cast<double>(q - 2 * p) / 2 : static_cast<double>(p)) /
                       static_cast<double>(q);
  const double near = std::cos(angle), far = std::sin(angle);
  const double re = swapped ? far : near, im = swapped ? near : far;
  return {static_cast<R>(reflected ? -re : re), static_cast<R>(below == forward ? im : -im)};
}

// The largest prime factor that is used as a radix.
inline constexpr int kLargestRadix = 31;
// Upper bound of the number of factors of an int64.
inline constexpr int kMostFactors = 64;

// The radices of a length, fours first; empty if a factor is too large, or for length 1.
struct Radixes {
  explicit Radixes(int64_t n) {
    for (; n % 4 == 0; n /= 4) values[count++] = 4;
    for (int prime = 2; prime <= kLargestRadix; prime += prime == 2 ? 1 : 2) {
      for (; n % prime == 0; n /= prime) values[count++] = prime;
    }
    is_smooth = n == 1;
  }
  int values[kMostFactors];
  int count = 0;
  bool is_smooth;
};

DL_KERNELS_END

#endif  // DL_KERNELS_SPECTRAL_UNIT_ROOTS_H_
