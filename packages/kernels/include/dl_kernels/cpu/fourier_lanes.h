// CPU: complex numbers in vector lanes, one transform per lane, and a radix stage of these
// transforms.
#ifndef DL_KERNELS_CPU_FOURIER_LANES_H_
#define DL_KERNELS_CPU_FOURIER_LANES_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/registers.h"
#include "dl_kernels/cpu/transpose.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/spectral/unit_roots.h"

DL_KERNELS_BEGIN

namespace detail {

template <class R>
struct ComplexLanes {
  static constexpr int kBytes = kVectorBytes, kCount = kBytes / static_cast<int>(sizeof(R));
  typedef R Vector __attribute__((vector_size(kBytes)));
  Vector re, im;

  friend ComplexLanes operator+(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend ComplexLanes operator-(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend ComplexLanes operator*(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend ComplexLanes operator*(const ComplexLanes& a, Complex<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend ComplexLanes operator*(const ComplexLanes& a, R b) { return {a.re * b, a.im * b}; }
  // Multiply by `scale` · i.
  ComplexLanes times_i(R scale) const { return {im * -scale, re * scale}; }

  // Load `count` adjacent numbers; other lanes are 0.
  void load(const Complex<R>* from, int count) {
    if (count == kCount) {
      Vector low, high;
      std::memcpy(&low, from, sizeof(Vector));
      std::memcpy(&high, from + kCount / 2, sizeof(Vector));
      re = __builtin_shuffle(low, high, lane_indices(0, 2));
      im = __builtin_shuffle(low, high, lane_indices(1, 2));
      return;
    }
    *this = ComplexLanes{};
    for (int i = 0; i < count; ++i) {
      re[i] = from[i].re;
      im[i] = from[i].im;
    }
  }
  void store(Complex<R>* to, int count) const {
    if (count == kCount) {
      const Vector low = __builtin_shuffle(re, im, alternating(0)),
                   high = __builtin_shuffle(re, im, alternating(kCount / 2));
      std::memcpy(to, &low, sizeof(Vector));
      std::memcpy(to + kCount / 2, &high, sizeof(Vector));
      return;
    }
    for (int i = 0; i < count; ++i) to[i] = {re[i], im[i]};
  }

 private:
  using Index = std::conditional_t<sizeof(R) == 4, int32_t, int64_t>;
  typedef Index Indexes __attribute__((vector_size(kBytes)));
  static Indexes lane_indices(int first, int step) {
    Indexes result;
    for (int i = 0; i < kCount; ++i) result[i] = first + i * step;
    return result;
  }
  static Indexes alternating(int first) {
    Indexes result;
    for (int i = 0; i < kCount; ++i) result[i] = first + i / 2 + i % 2 * kCount;
    return result;
  }
};

// Rows of n elements, `inner` of which are adjacent, beginning with row `first`.
template <class T>
struct RowsOfLanes {
  using R = real_t<T>;
  using Lanes = ComplexLanes<R>;
  int64_t n, inner, first;
  int count;

  void load(Lanes* to, const T* from) const {
    const T* const row = from + offset_of(0);
    if (inner == 1) {
      if (count < Lanes::kCount) std::memset(static_cast<void*>(to), 0, n * sizeof(Lanes));
      transpose_tile(sizeof(R), to, Lanes::kCount, row, 2 * n, 2 * n, count);
    } else if (are_adjacent()) {
      for (int64_t j = 0; j < n; ++j) to[j].load(row + j * inner, count);
    } else {
      std::memset(static_cast<void*>(to), 0, n * sizeof(Lanes));
      for (int lane = 0; lane < count; ++lane) {
        const T* const x = from + offset_of(lane);
        for (int64_t j = 0; j < n; ++j) {
          to[j].re[lane] = x[j * inner].re;
          to[j].im[lane] = x[j * inner].im;
        }
      }
    }
  }

  void store(T* to, const Lanes* from) const {
    T* const row = to + offset_of(0);
    if (inner == 1) {
      transpose_tile(sizeof(R), row, 2 * n, from, Lanes::kCount, count, 2 * n);
    } else if (are_adjacent()) {
      for (int64_t j = 0; j < n; ++j) from[j].store(row + j * inner, count);
    } else {
      for (int lane = 0; lane < count; ++lane) {
        T* const y = to + offset_of(lane);
        for (int64_t j = 0; j < n; ++j) y[j * inner] = {from[j].re[lane], from[j].im[lane]};
      }
    }
  }

 private:
  int64_t offset_of(int lane) const {
    const int64_t row = first + lane;
    return row / inner * n * inner + row % inner;
  }
  bool are_adjacent() const { return first % inner + count <= inner; }
};

// One Stockham stage, which combines sub-transforms of length `known` to ones of length `known` ·
// radix. Element (k, i) of the input is at [k * (n / known) + i].
template <class R>
struct RadixStage {
  ComplexLanes<R>* to;
  const ComplexLanes<R>* from;
  const Complex<R>* roots;
  int64_t n, known;
  R sign;  // -1 for the inverse transform
  int any_radix;

  // 0 stands for any odd radix.
  template <int kRadix>
  void run() const {
    const int radix = kRadix == 0 ? any_radix : kRadix;
    const int64_t part = n / known / radix, step = known * part;
    Complex<R> twiddles[kRadix == 0 ? kLargestRadix : kRadix];
    for (int64_t k = 0; k < known; ++k) {
      for (int q = 1; q < radix; ++q) twiddles[q] = roots[part * q * k];
      const ComplexLanes<R>* const x = from + k * part * radix;
      ComplexLanes<R>* const y = to + k * part;
      for (int64_t i = 0; i < part; ++i) {
        ComplexLanes<R> parts[kRadix == 0 ? kLargestRadix : kRadix];
        parts[0] = x[i];
        for (int q = 1; q < radix; ++q) {
          parts[q] = k == 0 ? x[q * part + i] : x[q * part + i] * twiddles[q];
        }
        if constexpr (kRadix == 2) {
          y[i] = parts[0] + parts[1];
          y[step + i] = parts[0] - parts[1];
        } else if constexpr (kRadix == 4) {
          const auto even = parts[0] + parts[2], odd = parts[1] + parts[3];
          const auto left = parts[0] - parts[2];
          const auto quarter = (parts[1] - parts[3]).times_i(-sign);
          y[i] = even + odd;
          y[step + i] = left + quarter;
          y[2 * step + i] = even - odd;
          y[3 * step + i] = left - quarter;
        } else {
          odd<kRadix>(y + i, step, parts, radix);
        }
      }
    }
  }

 private:
  // Parts q and radix - q have conjugate roots: both follow from the same sum and difference.
  template <int kRadix>
  void odd(ComplexLanes<R>* y, int64_t step, ComplexLanes<R>* parts, int radix) const {
    const int half = radix / 2;
    ComplexLanes<R> total = parts[0];
    for (int q = 1; q <= half; ++q) {
      const auto sum = parts[q] + parts[radix - q], difference = parts[q] - parts[radix - q];
      parts[q] = sum;
      parts[radix - q] = difference;
      total = total + sum;
    }
    y[0] = total;
    for (int u = 1; u <= half; ++u) {
      ComplexLanes<R> even = parts[0], other{};
      int at = 0;
      for (int q = 1; q <= half; ++q) {
        at = at + u >= radix ? at + u - radix : at + u;
        const Complex<R> root = roots[n / radix * at];
        even = even + parts[q] * root.re;
        other = other + parts[radix - q] * root.im;
      }
      other = other.times_i(R(1));
      y[u * step] = even + other;
      y[(radix - u) * step] = even - other;
    }
  }
};

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_FOURIER_LANES_H_
