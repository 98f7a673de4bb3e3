// CPU matrix-vector products for matrices with dense rows: as many dot products at a time as a
// register has lanes, each with a register of partial sums; the registers are reduced together.
#ifndef DL_KERNELS_CPU_GEMV_H_
#define DL_KERNELS_CPU_GEMV_H_

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gemm_tile.h"

DL_KERNELS_BEGIN

namespace detail {

// Products of a few rows with a few vectors, kLanes in total.
template <class T, class C>
struct Gemv {
  static constexpr int kLanes = GemmTile<C>::kLanes;
  using Vector = typename GemmTile<C>::Vector;
  // Longer sums would need more than one accumulator to be as exact as Block::sum.
  static constexpr int64_t kLongest = 4096;

  template <int vectors>
  static constexpr int kRows = kLanes / vectors;

  // sums[v · kRows + i] = Σ a[i · row + l] · x[v · x_row + l] for l < k, or += with `add`. If k is
  // not a multiple of kLanes, the vectors end as `spread` writes them.
  template <int vectors>
  __attribute__((noinline)) static void multiply(const T* a, int64_t row, int64_t k, const C* x,
                                                 int64_t x_row, C* sums, bool add) {
    Vector partial[kLanes] = {};
    int64_t l = 0;
    for (; l + kLanes <= k; l += kLanes) {
      add_products<vectors>(partial, a + l, row, x + l, x_row, [](Vector all) { return all; });
    }
    if (l < k) {
      // Mask bits instead of multiplying by 0: an element added earlier may be infinite.
      const Bits fresh = lanes_from(static_cast<int>(l + kLanes - k));
      add_products<vectors>(partial, a + k - kLanes, row, x + l, x_row, [&](Vector all) {
        return reinterpret_cast<Vector>(reinterpret_cast<Bits>(all) & fresh);
      });
    }
    add_lanes(partial);
    if (add) partial[0] += load(sums);
    store(sums, partial[0]);
  }

  // Number of elements that `spread` writes for a vector.
  static constexpr int64_t spread_size(int64_t k) { return (k + kLanes - 1) / kLanes * kLanes; }

  // Format of x in `multiply`: k elements; if they do not fill whole registers, one more register
  // follows with the last kLanes factors, where those already used are zero.
  static void spread(C* to, const T* x, int64_t step, int64_t k) {
    const int64_t whole = k / kLanes * kLanes;
    if (step == 1) {
      for (int64_t l = 0; l < whole; l += kLanes) store(to + l, load(x + l));
    } else {
      for (int64_t l = 0; l < whole; ++l) to[l] = cast<C>(x[l * step]);
    }
    for (int64_t l = whole == k ? k : k - kLanes, j = whole; l < k; ++l, ++j)
      to[j] = l < whole ? C(0) : cast<C>(x[l * step]);
  }

 private:
  using Bit =
      std::conditional_t<sizeof(C) == 8, int64_t,
                         std::conditional_t<sizeof(C) == 4, int32_t,
                                            std::conditional_t<sizeof(C) == 2, int16_t, int8_t>>>;
  typedef Bit Bits __attribute__((vector_size(kVectorBytes)));

  // Accumulate one more register of each row with each vector.
  template <int vectors, class Select>
  static void add_products(Vector* partial, const T* a, int64_t row, const C* x, int64_t x_row,
                           const Select& select) {
    constexpr int rows = kRows<vectors>;
    Vector factors[vectors];
    // Step from row to row: one address per row would need too many registers.
    DL_UNROLL
    for (int v = 0; v < vectors; ++v, x += x_row) factors[v] = load(x);
    DL_UNROLL
    for (int i = 0; i < rows; ++i, a += row) {
      const Vector lanes = select(load(a));
      DL_UNROLL
      for (int v = 0; v < vectors; ++v) partial[v * rows + i] += lanes * factors[v];
    }
  }

  static Bits lanes_from(int first) {
    Bits lanes;
    for (int i = 0; i < kLanes; ++i) lanes[i] = i < first ? Bit(0) : Bit(-1);
    return lanes;
  }

  // Load through types of any alignment: compilers otherwise copy a register's bytes through the
  // stack.
  template <class U>
  static Vector load(const U* from) {
    if constexpr (std::is_same_v<U, C>) {
      return *reinterpret_cast<const Vector*>(from);
    } else if constexpr (std::is_same_v<U, BFloat16> && std::is_same_v<C, float>) {
      typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));
      typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
      const Halves halves = *reinterpret_cast<const Halves*>(from);
      return reinterpret_cast<Vector>(__builtin_convertvector(halves, Words) << 16);
#if defined(__F16C__)
    } else if constexpr (std::is_same_v<U, Half> && std::is_same_v<C, float>) {
#if defined(__AVX512F__)
      // All lanes are selected: the unmasked intrinsic triggers a warning in a header of g++ 12.
      return reinterpret_cast<Vector>(_mm512_maskz_cvtph_ps(
          __mmask16(-1), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#else
      return reinterpret_cast<Vector>(
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#endif
#elif defined(__aarch64__)
    } else if constexpr (std::is_same_v<U, Half> && std::is_same_v<C, float>) {
      return reinterpret_cast<Vector>(
          vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16*>(from))));
#endif
    } else {
      C converted[kLanes];
      DL_VECTOR_LOOP
      for (int i = 0; i < kLanes; ++i) converted[i] = cast<C>(from[i]);
      return *reinterpret_cast<const Vector*>(converted);
    }
  }

  static void store(C* to, Vector lanes) { *reinterpret_cast<Vector*>(to) = lanes; }

  // partial[0][i] becomes the sum of the lanes of partial[i]. Each step interleaves pairs of
  // registers in units of already reduced rows and adds the two results.
  template <int kUnit = 1>
  static void add_lanes(Vector* partial) {
    if constexpr (kUnit < kLanes) {
      using Steps = Interleave<kUnit * sizeof(C)>;
      DL_UNROLL
      for (int i = 0; i < kLanes / kUnit / 2; ++i) {
        partial[i] = Steps::template half<0>(partial[2 * i], partial[2 * i + 1]) +
                     Steps::template half<1>(partial[2 * i], partial[2 * i + 1]);
      }
      add_lanes<2 * kUnit>(partial);
    }
  }

  // Units move within 16 bytes, and later 16 bytes at a time: processors have fast instructions for
  // these shuffles only.
  template <int kBytes>
  struct Interleave {
    using Word = std::conditional_t<
        (kBytes >= 8), int64_t,
        std::conditional_t<kBytes == 4, int32_t, std::conditional_t<kBytes == 2, int16_t, int8_t>>>;
    typedef Word Words __attribute__((vector_size(kVectorBytes)));
    static constexpr int kWords = kVectorBytes / sizeof(Word);
    static constexpr int kLane = 16 / sizeof(Word);

    // Source of word i of an output, in both registers.
    static constexpr Word source(int i, int half) {
      if (kBytes < 16) {
        constexpr int unit = kBytes < 16 ? kBytes / sizeof(Word) : 1;
        const int unit_index = i % kLane / unit;
        return static_cast<Word>(unit_index % 2 * kWords + i / kLane * kLane +
                                 unit_index / 2 * unit + i % unit + half * kLane / 2);
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

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GEMV_H_
