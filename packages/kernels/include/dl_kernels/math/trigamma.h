// The second derivative of log Γ in float: the double version in gamma.h takes thirty times as long
// for digits that a float does not have.
#ifndef DL_KERNELS_MATH_TRIGAMMA_H_
#define DL_KERNELS_MATH_TRIGAMMA_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace math {

// For positive x: the recurrence up to 8 (DLMF 5.15.5), and from there the asymptotic series (DLMF
// 5.15.8). Small terms are added first.
DL_FN float trigamma_positive(float x) {
  float terms[8];
  DL_UNROLL
  for (int k = 0; k < 8; ++k) {
    const bool moves = x < 8.0f;
    terms[k] = moves ? 1.0f / (x * x) : 0.0f;
    x += moves ? 1.0f : 0.0f;
  }
  const float r = 1.0f / x, z = r * r;
  float sum = r + (0.5f * z + r * z * (1.0f / 6 - z * (1.0f / 30 - z * (1.0f / 42))));
  DL_UNROLL
  for (int k = 7; k >= 0; --k) sum += terms[k];
  return sum;
}

// Infinity at the poles 0, -1, -2, …; for negative x by reflection (DLMF 5.15.6).
DL_FN float trigamma(float x) {
  if (x > 0.0f) return std::isinf(x) ? 0.0f : trigamma_positive(x);
  if (std::isnan(x) || std::isinf(x)) return NAN;
  const float fraction = x - std::floor(x);
  if (fraction == 0.0f) return HUGE_VALF;
  // sin(πx) from the distance to the nearest pole.
  const float near = x - std::nearbyint(x);
  const float sine = std::sin(3.14159265358979f * near);
  const float steep = 3.14159265358979f / sine;
  return steep * steep - trigamma_positive(1.0f - x);
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_TRIGAMMA_H_
