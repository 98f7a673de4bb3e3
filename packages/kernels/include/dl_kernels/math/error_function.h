// Functions of the normal distribution, in double: scaled erfc, log-probabilities, and inverses.
#ifndef DL_KERNELS_MATH_ERROR_FUNCTION_H_
#define DL_KERNELS_MATH_ERROR_FUNCTION_H_

#include <cmath>

#include "dl_kernels/math/chebyshev_tables.gen.h"
#include "dl_kernels/math/for_float.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace math {

inline constexpr double kRootHalf = 0.70710678118654752440;
inline constexpr double kHalfRootPi = 0.88622692545275801365;

// exp(x * x), without losing digits of the exponent for large x.
DL_FN double exp_of_square(double x) {
  const double square = x * x;
  return std::isinf(square) ? square : std::exp(square) * (1 + std::fma(x, x, -square));
}

// exp(x * x) erfc(x). For positive x: Shepherd and Laframboise, Chebyshev approximation of (1 + 2x)
// exp(x^2) erfc x (1981).
DL_FN double erfcx(double x) {
  if (std::isnan(x)) return x;
  const double size = std::fabs(x);
  const double t = std::isinf(size) ? 1 : (size - 3.75) / (size + 3.75);
  const double scaled = erfcx_series(t) / (1 + 2 * size);
  return x < 0 ? 2 * exp_of_square(x) - scaled : scaled;
}

// Logarithm of the normal distribution function.
DL_FN double log_ndtr(double x) {
  const double scaled = x * kRootHalf;
  if (x < -1) return std::log(erfcx(-scaled) / 2) - scaled * scaled;
  if (x < 1) return std::log1p(-std::erfc(scaled) / 2);
  // The argument of erfc is rounded: correct its decay by the rounding error of the square.
  const double square = x * x / 2, rest = std::fma(x, x, -x * x) / 2;
  const double decay = square < 745 ? std::exp(-square) * (1 - rest) : 0;
  return std::log1p(-erfcx(scaled) * decay / 2);
}

// The same two functions of floats, without branches and in double.
DL_FN double positive_erfcx_for_float(double x) {
  const double t = x == HUGE_VAL ? 1.0 : (x - 3.75) / (x + 3.75);
  return erfcx_series<true>(t) / (1 + 2 * x);
}
DL_FN float erfcx(float x) {
  const double wide = static_cast<double>(x);
  const double scaled = positive_erfcx_for_float(std::fabs(wide));
  return static_cast<float>(wide < 0 ? 2 * exp_for_float(wide * wide) - scaled : scaled);
}
DL_FN float log_ndtr(float x) {
  const double wide = static_cast<double>(x), square = wide * wide / 2;
  const double scaled = positive_erfcx_for_float(std::fabs(wide) * kRootHalf) / 2;
  // For positive arguments log(1 - u) with 0 <= u <= 1/2; for small u by its series.
  const double u = scaled * exp_for_float(-square);
  const bool below = wide < 0;
  const double log = log_for_float(below ? scaled : 1 - u) - (below ? square : 0);
  const double series = -u * (1 + u * (0.5 + u * (1.0 / 3)));
  return static_cast<float>(!below & (u < 1e-4) ? series : log);
}

// A closed form that is accurate to 1 in 400 (Winitzki, A handy approximation for the error
// function and its inverse, 2008). `log` is log(1 - y * y).
DL_FN double erfinv_estimate(double log) {
  constexpr double kShape = 0.147, kTwoOverPi = 0.63661977236758134308;
  const double half = kTwoOverPi / kShape + log / 2;
  // Use the form of the root without cancellation.
  return std::sqrt(-log / kShape / (std::sqrt(half * half - log / kShape) + half));
}

// The estimate, refined by three steps of Halley's method.
DL_FN double erfinv(double y) {
  const double size = std::fabs(y);
  if (!(size < 1)) return size == 1 ? y * HUGE_VAL : NAN;
  double x = erfinv_estimate(std::log1p(-y * y));
  for (int i = 0; i < 3; ++i) {
    const double error = size > 0.5 ? (1 - size) - std::erfc(x) : std::erf(x) - size;
    const double step = error * std::exp(x * x) * kHalfRootPi;
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

// erfinv(y) / y in float as a function of w = -log(1 - y * y), of which it is a smooth function:
// below 5 a polynomial in w, up to 16 one in its square root (the form of Giles, Approximating the
// erfinv function, 2011). Both are minimax fits of our own, with errors of at most 2^-26.
DL_FN float erfinv_slope(float w) {
  const float a = w - 2.5f, b = std::sqrt(w) - 3.0f;
  const float center[] = {0x1.805c5ep+0f,  0x1.f91e8ap-3f,   -0x1.11c4ecp-8f,  -0x1.486616p-10f,
                          0x1.c9e6c6p-13f, -0x1.4d15a2p-18f, -0x1.d0c19cp-19f, 0x1.f48be6p-22f,
                          0x1.8f220ap-26f, -0x1.2e0eaep-27f};
  const float tail[] = {0x1.6a9efcp+1f,   0x1.006dc4p+0f, 0x1.357e78p-7f,  -0x1.f47562p-8f,
                        0x1.74dc64p-8f,   -0x1.d813p-9f,  0x1.839e94p-10f, -0x1.985246p-15f,
                        -0x1.3f25c8p-12f, 0x1.cdca28p-14f};
  float p = center[9], q = tail[9];
  for (int i = 8; i >= 0; --i) {
    p = p * a + center[i];
    q = q * b + tail[i];
  }
  return w < 5.0f ? p : q;
}

// erfinv in float, with an error of at most 4 units in the last place.
DL_FN float erfinv(float y) {
  const float inside = y * erfinv_slope(-log((1.0f - y) * (1.0f + y)));
  return magnitude(y) == 1.0f ? y * HUGE_VALF : inside;
}

// Inverse of the normal distribution function. In the tails by Newton's method for log(erfc), which
// is concave, so that iterations from either side converge.
DL_FN double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : NAN;
  if (p > 0.25 && p < 0.75) return erfinv(2 * p - 1) / kRootHalf;
  const double tail = p < 0.5 ? p : 1 - p, log = std::log(2 * tail);
  double z = erfinv_estimate(log + std::log1p(1 - 2 * tail));
  for (int i = 0; i < 4; ++i) {
    const double scaled = erfcx(z);
    z += (std::log(scaled) - z * z - log) * kHalfRootPi * scaled;
  }
  return (p < 0.5 ? -z : z) / kRootHalf;
}

// The same in float by erfinv(2p - 1), whose w is -log(4p(1 - p)); beyond the range of the fit in
// double.
DL_FN bool ndtri_is_fitted(float p) { return (p > 0x1p-22f) & (p < 1.0f); }
DL_FN float ndtri_fitted(float p) {
  const float y = 2.0f * (p - 0.5f);
  return 1.41421356237309505f * y * erfinv_slope(-log(4.0f * p * (1.0f - p)));
}
DL_FN float ndtri(float p) {
  return ndtri_is_fitted(p) ? ndtri_fitted(p) : static_cast<float>(ndtri(static_cast<double>(p)));
}

}  // namespace math

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_ERROR_FUNCTION_H_
