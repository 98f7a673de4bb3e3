// GPU: mixed-radix Fourier transforms for lengths with small prime factors, in Stockham's autosort
// order, with one thread per group of a stage.
#ifndef DL_KERNELS_GPU_FOURIER_H_
#define DL_KERNELS_GPU_FOURIER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/spectral/unit_roots.h"

DL_KERNELS_BEGIN

template <class T>
struct UnitRootItem {
  T* to;
  int64_t n;
  bool forward;
  DL_FN void operator()(int64_t i) const { to[i] = unit_root<real_t<T>>(i, n, forward); }
};

// One Stockham stage: combine sub-transforms of length `known`. Element (k, i) of an input row is
// at [k * (n / known) + i], each with `inner` adjacent rows.
template <class T>
struct RadixItem {
  T* to;
  const T* from;
  const T* roots;
  int64_t n, known, part, inner;  // n = known * radix * part
  int radix;
  bool forward;

  DL_FN void operator()(int64_t item) const {
    const int64_t width = part * inner, groups = known * width;
    const int64_t row = item / groups, k = item % groups / width, i = item % width;
    const T* const x = from + row * n * inner + k * width * radix + i;
    T* const y = to + row * n * inner + k * width + i;
    T parts[kLargestRadix];
    for (int q = 0; q < radix; ++q) parts[q] = x[q * width] * roots[part * q * k];
    if (radix == 2) {
      y[0] = parts[0] + parts[1];
      y[groups] = parts[0] - parts[1];
    } else if (radix == 4) {
      const T even = parts[0] + parts[2], odd = parts[1] + parts[3];
      const T left = parts[0] - parts[2], right = parts[1] - parts[3];
      // Multiply by -i; by i in the inverse transform.
      const T quarter = forward ? T{right.im, -right.re} : T{-right.im, right.re};
      y[0] = even + odd;
      y[groups] = left + quarter;
      y[2 * groups] = even - odd;
      y[3 * groups] = left - quarter;
    } else {
      for (int u = 0; u < radix; ++u) {
        T sum = parts[0];
        for (int q = 1; q < radix; ++q) {
          sum = sum + parts[q] * roots[known * part * (q * u % radix)];
        }
        y[u * groups] = sum;
      }
    }
  }
};

template <class T>
struct ScaledItem {
  T* to;
  const T* from;
  real_t<T> scale;
  DL_FN void operator()(int64_t i) const { to[i] = scale * from[i]; }
};

template <class T>
class SmoothFourier {
 public:
  SmoothFourier(const Launch& launch, int64_t n, bool forward)
      : launch_(launch), n_(n), forward_(forward), radixes_(n), roots_(launch, n) {
    each(launch_, n, 64, UnitRootItem<T>{roots_.data(), n, forward});
  }

  // Transform over j the elements (o, j, i), at [(o * n + j) * inner + i]. `to` must not overlap
  // `from`.
  void run(T* to, const T* from, int64_t outer, int64_t inner, real_t<T> scale) const {
    const int64_t count = outer * n_ * inner;
    const Workspace<T> between(launch_, radixes_.count > 1 ? count : 0);
    // The last stage writes to `to`.
    bool to_result = radixes_.count % 2 == 1;
    int64_t known = 1;
    for (int f = 0; f < radixes_.count; ++f) {
      const int radix = radixes_.values[f];
      T* const target = to_result ? to : between.data();
      each(launch_, outer * (n_ / radix) * inner, 4 * radix,
           RadixItem<T>{target, from, roots_.data(), n_, known, n_ / known / radix, inner, radix,
                        forward_});
      known *= radix;
      from = target;
      to_result = !to_result;
    }
    if (scale != 1 || from != to) each(launch_, count, 2, ScaledItem<T>{to, from, scale});
  }

 private:
  const Launch& launch_;
  int64_t n_;
  bool forward_;
  Radixes radixes_;
  Workspace<T> roots_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_FOURIER_H_
