// CPU matrix-vector product where the rows of the matrix are dense: a square of rows at a time,
// each with a vector of partial sums, which are added up across their lanes together.
#ifndef DL_KERNELS_CPU_GEMV_H_
#define DL_KERNELS_CPU_GEMV_H_

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

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
      // Stepping from row to row: an address for each would take more registers than there are.
      const T* from = a + l;
      DL_UNROLL
      for (int i = 0; i < kRows; ++i, from += row) partial[i] += load(from) * factor;
    }
    if (l < k) {
      const Vector factor = load(x + l);
      // Zero bits: an infinity that has been counted must not become NaN.
      const Bits fresh = lanes_from(static_cast<int>(l + kRows - k));
      const T* from = a + k - kRows;
      DL_UNROLL
      for (int i = 0; i < kRows; ++i, from += row) {
        partial[i] += reinterpret_cast<Vector>(reinterpret_cast<Bits>(load(from)) & fresh) * factor;
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

  // partial[0][i] becomes the sum of the lanes of partial[i]. Each step interleaves neighbouring
  // registers in units, which hold the rows that are side by side already, and adds the halves.
  template <int kUnit = 1>
  static void add_lanes(Vector* partial) {
    if constexpr (kUnit < kRows) {
      using Steps = Interleave<kUnit * sizeof(C)>;
      DL_UNROLL
      for (int i = 0; i < kRows / kUnit / 2; ++i) {
        partial[i] = Steps::template half<0>(partial[2 * i], partial[2 * i + 1]) +
                     Steps::template half<1>(partial[2 * i], partial[2 * i + 1]);
      }
      add_lanes<2 * kUnit>(partial);
    }
  }

  // Units are moved within 16 bytes, and from then on 16 bytes at a time: processors have
  // instructions for these, and slow ones for anything else.
  template <int kBytes>
  struct Interleave {
    using Word = std::conditional_t<
        (kBytes >= 8), int64_t,
        std::conditional_t<kBytes == 4, int32_t, std::conditional_t<kBytes == 2, int16_t, int8_t>>>;
    typedef Word Words __attribute__((vector_size(kVectorBytes)));
    static constexpr int kWords = kVectorBytes / sizeof(Word);
    static constexpr int kLane = 16 / sizeof(Word);

    // Where word i of a half comes from, in both registers.
    static constexpr Word source(int i, int half) {
      if (kBytes < 16) {
        constexpr int unit = kBytes < 16 ? kBytes / sizeof(Word) : 1;
        const int place = i % kLane / unit;
        return static_cast<Word>(place % 2 * kWords + i / kLane * kLane + place / 2 * unit +
                                 i % unit + half * kLane / 2);
      }
      constexpr int part = kWords > kLane ? kWords / 2 : kLane;
      return static_cast<Word>(i / part * kWords + i % part / kLane * 2 * kLane + i % kLane +
                               half * kLane);
    }

    template <int which, int... i>
    static Words sources(std::integer_sequence<int, i...>) {
      return Words{source(i, which)...};
    }

    template <int which>
    static Vector half(Vector a, Vector b) {
      return reinterpret_cast<Vector>(
          __builtin_shuffle(reinterpret_cast<Words>(a), reinterpret_cast<Words>(b),
                            sources<which>(std::make_integer_sequence<int, kWords>())));
    }
  };
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
