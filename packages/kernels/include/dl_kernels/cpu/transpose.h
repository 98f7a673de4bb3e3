// Transposition of a tile of elements of any size in registers: a perfect shuffle of a square of
// vectors, applied once for each bit of its side, exchanges rows and columns.
#ifndef DL_KERNELS_CPU_TRANSPOSE_H_
#define DL_KERNELS_CPU_TRANSPOSE_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace detail {

// AVX-512 interleaves whole registers in one instruction; older instruction sets do so within 16
// bytes.
template <class U>
inline constexpr int kTransposedBytes =
#if defined(__AVX512F__)
    sizeof(U) >= 4 ? 64 : 16;
#else
    16;
#endif

// to[l * to_step + c] = from[c * from_step + l] for a square of vectors of `bytes` bytes.
template <int bytes, class U>
DL_FN void transpose_square(U* to, int64_t to_step, const U* from, int64_t from_step) {
  constexpr int kSide = bytes / static_cast<int>(sizeof(U));
  typedef U Vector __attribute__((vector_size(bytes)));
  Vector low, high;
  for (int i = 0; i < kSide; ++i) {
    low[i] = static_cast<U>(i % 2 * kSide + i / 2);
    high[i] = static_cast<U>(low[i] + kSide / 2);
  }
  Vector lines[kSide];
  for (int i = 0; i < kSide; ++i) std::memcpy(&lines[i], from + i * from_step, sizeof(Vector));
#pragma GCC unroll 4
  for (int width = 1; width < kSide; width *= 2) {
    Vector shuffled[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide / 2; ++i) {
      shuffled[2 * i] = __builtin_shuffle(lines[i], lines[i + kSide / 2], low);
      shuffled[2 * i + 1] = __builtin_shuffle(lines[i], lines[i + kSide / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) lines[i] = shuffled[i];
  }
  for (int i = 0; i < kSide; ++i) std::memcpy(to + i * to_step, &lines[i], sizeof(Vector));
}

// Both extents are at least the side of a square. The last squares overlap those before.
template <int bytes, class U>
__attribute__((noinline)) void transpose_squares(U* to, int64_t to_step, const U* from,
                                                 int64_t from_step, int64_t lines,
                                                 int64_t columns) {
  constexpr int64_t kSide = bytes / static_cast<int64_t>(sizeof(U));
  for (int64_t next_c = 0; next_c < columns; next_c += kSide) {
    const int64_t c = next_c + kSide <= columns ? next_c : columns - kSide;
    for (int64_t next_l = 0; next_l < lines; next_l += kSide) {
      const int64_t l = next_l + kSide <= lines ? next_l : lines - kSide;
      transpose_square<bytes>(to + l * to_step + c, to_step, from + c * from_step + l, from_step);
    }
  }
}

template <class U>
void transpose(U* to, int64_t to_step, const U* from, int64_t from_step, int64_t lines,
               int64_t columns) {
  if constexpr (sizeof(U) <= 8) {
    const int64_t least = lines < columns ? lines : columns;
    const auto bytes = least * static_cast<int64_t>(sizeof(U));
    if (bytes >= kTransposedBytes<U>) {
      transpose_squares<kTransposedBytes<U>>(to, to_step, from, from_step, lines, columns);
      return;
    }
    if (bytes >= 16) {
      transpose_squares<16>(to, to_step, from, from_step, lines, columns);
      return;
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t l = 0; l < lines; ++l) to[l * to_step + c] = from[c * from_step + l];
  }
}

// Elements of `size` bytes, a power of two up to 16: to[l * to_step + c] = from[c * from_step + l].
inline void transpose_tile(int64_t size, void* to, int64_t to_step, const void* from,
                           int64_t from_step, int64_t lines, int64_t columns) {
  struct Wide {
    uint64_t halves[2];
  };
  const auto run = [&](auto zero) {
    using U = decltype(zero);
    transpose(static_cast<U*>(to), to_step, static_cast<const U*>(from), from_step, lines, columns);
  };
  switch (size) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    case 8:
      return run(uint64_t{});
    default:
      return run(Wide{});
  }
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_TRANSPOSE_H_
