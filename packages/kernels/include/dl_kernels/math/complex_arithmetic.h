// Complex arithmetic, and the same functions for real numbers, for kernels that are templates over
// both.
#ifndef DL_KERNELS_MATH_COMPLEX_ARITHMETIC_H_
#define DL_KERNELS_MATH_COMPLEX_ARITHMETIC_H_

#include <cmath>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace detail {
template <class T>
struct RealPart {
  using type = T;
};
template <class R>
struct RealPart<Complex<R>> {
  using type = R;
};
}  // namespace detail

// Type of the real and imaginary parts of a complex type; a real type is unchanged.
template <class T>
using real_t = typename detail::RealPart<T>::type;

template <class R>
DL_FN Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
DL_FN Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
DL_FN Complex<R> operator-(Complex<R> a) {
  return {-a.re, -a.im};
}
template <class R>
DL_FN bool operator==(Complex<R> a, Complex<R> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class R>
DL_FN bool operator!=(Complex<R> a, Complex<R> b) {
  return !(a == b);
}
template <class R>
DL_FN Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
DL_FN Complex<R> operator*(R a, Complex<R> b) {
  return {a * b.re, a * b.im};
}
template <class R>
DL_FN Complex<R> operator/(Complex<R> a, R b) {
  return {a.re / b, a.im / b};
}

// Smith's division, which avoids overflow and underflow by not squaring parts of the divisor.
// Source: Smith, Algorithm 116: Complex division (CACM 1962).
template <class R>
DL_FN Complex<R> operator/(Complex<R> a, Complex<R> b) {
  if (std::fabs(b.re) >= std::fabs(b.im)) {
    const R ratio = b.im / b.re, divisor = b.re + ratio * b.im;
    return {(a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor};
  }
  const R ratio = b.re / b.im, divisor = b.im + ratio * b.re;
  return {(a.re * ratio + a.im) / divisor, (a.im * ratio - a.re) / divisor};
}

// Return the conjugate if `yes`.
template <class T>
DL_FN T conjugate(T x, bool yes = true) {
  if constexpr (kIsComplex<T>) {
    return yes ? T{x.re, -x.im} : x;
  } else {
    return x;
  }
}

template <class T>
DL_FN real_t<T> real_part(T x) {
  if constexpr (kIsComplex<T>) {
    return x.re;
  } else {
    return x;
  }
}

template <class T>
DL_FN real_t<T> imaginary_part(T x) {
  if constexpr (kIsComplex<T>) {
    return x.im;
  } else {
    return T(0);
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATH_COMPLEX_ARITHMETIC_H_
