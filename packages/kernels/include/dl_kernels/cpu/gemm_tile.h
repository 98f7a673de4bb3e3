// The micro-kernel of the matrix product: a tile of C stays in registers while packed panels stream
// through.
#ifndef DL_KERNELS_CPU_GEMM_TILE_H_
#define DL_KERNELS_CPU_GEMM_TILE_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/gather.h"
#include "dl_kernels/cpu/registers.h"
#include "dl_kernels/cpu/transpose.h"

DL_KERNELS_BEGIN

namespace detail {

#if defined(__AVX512F__)
inline constexpr int kTileRows = 14;  // 28 of 32 registers hold the tile
#elif defined(__aarch64__)
inline constexpr int kTileRows = 10;  // 20 of 32
#else
inline constexpr int kTileRows = 6;  // 12 of 16
#endif

template <class C>
struct GemmTile {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(C));
  static constexpr int kRows = kTileRows;
  static constexpr int kColumns = 2 * kLanes;
  typedef C Vector __attribute__((vector_size(kVectorBytes), aligned(sizeof(C)), may_alias));

  // acc[i][j] = sum over k of a[k · kRows + i] · b[k · kColumns + j]; acc is row-major with
  // kColumns columns.
  __attribute__((noinline)) static void multiply(int64_t depth, const C* a, const C* b, C* acc) {
    Vector left[kRows] = {}, right[kRows] = {};
    for (int64_t k = 0; k < depth; ++k) {
      const Vector b0 = *reinterpret_cast<const Vector*>(b);
      const Vector b1 = *reinterpret_cast<const Vector*>(b + kLanes);
      DL_UNROLL
      for (int i = 0; i < kRows; ++i) {
        left[i] += a[i] * b0;
        right[i] += a[i] * b1;
      }
      a += kRows;
      b += kColumns;
    }
    DL_UNROLL
    for (int i = 0; i < kRows; ++i) {
      *reinterpret_cast<Vector*>(acc + i * kColumns) = left[i];
      *reinterpret_cast<Vector*>(acc + i * kColumns + kLanes) = right[i];
    }
  }
};

// c = alpha · acc + beta · c; c is not read if beta is 0.
template <class T, class C>
DL_FN void blend(T* c, C acc, C alpha, C beta) {
  *c = cast<T>(beta == C(0) ? alpha * acc : alpha * acc + beta * cast<C>(*c));
}

// The same for a tile with row stride `acc_row`.
template <class T, class C>
void write_tile(T* c, int64_t row, int64_t column, int64_t rows, int64_t columns, const C* acc,
                int64_t acc_row, C alpha, C beta) {
  for (int64_t i = 0; i < rows; ++i) {
    T* to = c + i * row;
    const C* from = acc + i * acc_row;
    if (column == 1 && beta == C(0)) {
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < columns; ++j) to[j] = cast<T>(alpha * from[j]);
    } else if (column == 1) {
      DL_VECTOR_LOOP
      for (int64_t j = 0; j < columns; ++j)
        to[j] = cast<T>(alpha * from[j] + beta * cast<C>(to[j]));
    } else {
      for (int64_t j = 0; j < columns; ++j) blend(to + j * column, from[j], alpha, beta);
    }
  }
}

// Pack one panel of `height` lines, of which `count` exist and the rest are zeros: to[k · height +
// i] = from(i, k).
template <int height, class C, class T>
void pack_panel(C* to, const T* from, int64_t line, int64_t step, int64_t count, int64_t depth) {
  if (line == 1 && count == height) {
    for (int64_t k = 0; k < depth; ++k) load_dense<C>(to + k * height, from + k * step, height);
    return;
  }
  if (step == 1 && std::is_same_v<T, C>) {
    transpose_tile(sizeof(T), to, height, from, line, depth, count);
  } else if (step == 1) {
    constexpr int64_t kPiece = 64;
    alignas(64) T piece[kPiece * height] = {};
    for (int64_t k = 0; k < depth; k += kPiece) {
      const int64_t length = depth - k < kPiece ? depth - k : kPiece;
      transpose_tile(sizeof(T), piece, height, from + k, line, length, count);
      load_dense(to + k * height, piece, length * height);
    }
  } else {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t i = 0; i < count; ++i) to[k * height + i] = cast<C>(from[i * line + k * step]);
    }
  }
  for (int64_t k = 0; count < height && k < depth; ++k) {
    for (int64_t i = count; i < height; ++i) to[k * height + i] = C(0);
  }
}

}  // namespace detail

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GEMM_TILE_H_
