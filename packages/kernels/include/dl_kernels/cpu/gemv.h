// CPU matrix-vector product where the rows of the matrix are dense: a square of rows at a time,
// each with a vector of partial sums, which are added up across their lanes together.
#ifndef DL_KERNELS_CPU_GEMV_H_
#define DL_KERNELS_CPU_GEMV_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gemm_tile.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

namespace detail {

// Products of `kRows` rows with one vector. As many rows as a register has lanes.
template <class T, class C>
struct Gemv {
  static constexpr int kRows = GemmTile<C>::kLanes;
  using Vector = typename GemmTile<C>::Vector;
  // Longer sums would need more than one accumulator to be as exact as Block::sum.
  static constexpr int64_t kLongest = 4096;

  static bool takes(int64_t rows, int64_t k) {
    return rows >= kRows && k >= kRows && k <= kLongest;
  }

  // sums[i] = Σ a[i · row + l] · x[l] for l < k. Where k is no multiple of kRows, x goes on with
  // the factors of the last kRows elements, zero for those that have had theirs.
  __attribute__((noinline)) static void multiply(const T* a, int64_t row, int64_t k, const C* x,
                                                 C* sums) {
    Vector partial[kRows] = {};
    int64_t l = 0;
    for (; l + kRows <= k; l += kRows) {
      const Vector factor = load(x + l);
      DL_UNROLL
      for (int i = 0; i < kRows; ++i) partial[i] += load(a + i * row + l) * factor;
    }
    if (l < k) {
      const Vector factor = load(x + l);
      // Zero bits: an infinity that has been counted must not become NaN.
      const Bits fresh = lanes_from(static_cast<int>(l + kRows - k));
      DL_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const Vector last = load(a + i * row + k - kRows);
        partial[i] += reinterpret_cast<Vector>(reinterpret_cast<Bits>(last) & fresh) * factor;
      }
    }
    add_lanes(partial);
    std::memcpy(sums, partial, sizeof(Vector));
  }

  // What multiply reads of x: k elements, rounded up to whole registers.
  static void spread(C* to, const T* x, int64_t step, int64_t k) {
    for (int64_t l = 0; l < k; ++l) to[l] = cast<C>(x[l * step]);
    const int64_t whole = k / kRows * kRows;
    if (whole == k) return;
    for (int64_t j = 0; j < kRows; ++j) {
      const int64_t l = k - kRows + j;
      to[whole + j] = l < whole ? C(0) : cast<C>(x[l * step]);
    }
  }

 private:
  using Bit =
      std::conditional_t<sizeof(C) == 8, int64_t,
                         std::conditional_t<sizeof(C) == 4, int32_t,
                                            std::conditional_t<sizeof(C) == 2, int16_t, int8_t>>>;
  typedef Bit Bits __attribute__((vector_size(kVectorBytes)));

  static Bits lanes_from(int first) {
    Bits lanes;
    for (int i = 0; i < kRows; ++i) lanes[i] = i < first ? Bit(0) : Bit(-1);
    return lanes;
  }

  template <class U>
  static Vector load(const U* from) {
    Vector lanes;
    if constexpr (std::is_same_v<U, C>) {
      std::memcpy(&lanes, from, sizeof(lanes));
    } else if constexpr (std::is_same_v<U, BFloat16> && std::is_same_v<C, float>) {
      typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));
      typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
      Halves halves;
      std::memcpy(&halves, from, sizeof(halves));
      lanes = reinterpret_cast<Vector>(__builtin_convertvector(halves, Words) << 16);
    } else {
      C converted[kRows];
      DL_VECTOR_LOOP
      for (int i = 0; i < kRows; ++i) converted[i] = cast<C>(from[i]);
      std::memcpy(&lanes, converted, sizeof(lanes));
    }
    return lanes;
  }

  // partial[0][i] becomes the sum of the lanes of partial[i]. Each step interleaves two registers
  // and adds the halves: the lanes of twice as many rows in half as many registers.
  static void add_lanes(Vector* partial) {
    Bits low, high;
    for (int i = 0; i < kRows; ++i) {
      low[i] = static_cast<Bit>(i % 2 * kRows + i / 2);
      high[i] = static_cast<Bit>(low[i] + kRows / 2);
    }
#pragma GCC unroll 8
    for (int count = kRows / 2; count > 0; count /= 2) {
#pragma GCC unroll 32
      for (int i = 0; i < count; ++i) {
        partial[i] = __builtin_shuffle(partial[i], partial[i + count], low) +
                     __builtin_shuffle(partial[i], partial[i + count], high);
      }
    }
  }
};

// y = alpha · a · x + beta · y, where Gemv takes the extents. Steps count elements.
template <class T, class O, class C>
void gemv(const Launch& launch, int64_t m, int64_t k, C alpha, const T* a, int64_t row, const T* x,
          int64_t x_step, C beta, O* y, int64_t y_step) {
  using Rows = Gemv<T, C>;
  constexpr int64_t kRows = Rows::kRows;
  alignas(64) C factors[Rows::kLongest + kRows];
  Rows::spread(factors, x, x_step, k);
  const C* spread = factors;
  const int64_t groups = (m + kRows - 1) / kRows;
  launch.parallel_for(groups, grain_for(k * kRows), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      alignas(64) C sums[kRows];
      const int64_t first = group * kRows;
      // The last square overlaps the one before.
      const int64_t from = first + kRows <= m ? first : m - kRows;
      Rows::multiply(a + from * row, row, k, spread, sums);
      for (int64_t i = first - from; i < kRows; ++i)
        blend(y + (from + i) * y_step, sums[i], alpha, beta);
    }
  });
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GEMV_H_
