// Products of small matrices in a block whose threads form a square: every thread keeps some
// elements of the result in registers, and slices of the operands pass through shared memory.
#ifndef DL_KERNELS_GPU_TILES_H_
#define DL_KERNELS_GPU_TILES_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/collectives.h"
#include "dl_kernels/gpu/threads.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int kTile = kThreads >= 256 ? 16 : 8;  // threads per line of the square
static_assert(kTile * kTile == kThreads, "one thread per element of the square");
inline constexpr int kOwn = 4;  // adjacent elements of a line of the result per thread
inline constexpr int kSide = kOwn * kTile;
template <class C>
inline constexpr int kDepth = 64 / static_cast<int>(sizeof(C));  // depth of a slice

// Elements that are read at once.
template <class C>
struct alignas(16) Four {
  C at[4];
};

// Padded by 16 bytes to avoid bank conflicts between lines.
template <class C>
struct alignas(16) TileLine {
  C at[kSide + 16 / sizeof(C)];

  DL_DEVICE const Four<C>& four(int first) const {
    return *reinterpret_cast<const Four<C>*>(at + first);
  }
};

template <class C>
struct TileSlices {
  TileLine<C> left[kDepth<C>];
  TileLine<C> right[kDepth<C>];
};

// An operand, indexed by the side of the result and the depth of the sum. Zero beyond the counts.
template <class T>
struct TileOperand {
  Matrix<const T> matrix;
  int64_t side, depth;
};

// A thread's part of a result of kSide × kSide elements.
template <class C>
struct TileSums {
  C at[kOwn][kOwn];

  DL_DEVICE static int row(int r) { return thread_index() / kTile * kOwn + r; }
  DL_DEVICE static int column(int c) { return thread_index() % kTile * kOwn + c; }

  DL_DEVICE void clear() {
    each([](int, int, C& value) { value = C(0); });
  }

  // f(r, c, element)
  template <class F>
  DL_DEVICE void each(const F& f) {
    DL_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      DL_UNROLL
      for (int c = 0; c < kOwn; ++c) f(r, c, at[r][c]);
    }
  }

  // lines[column].at[row] = the element: the result becomes the left operand of a product.
  DL_DEVICE void share(TileLine<C>* lines) const {
    DL_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      DL_UNROLL
      for (int c = 0; c < kOwn; ++c) lines[column(c)].at[row(r)] = at[r][c];
    }
  }

  // Add the product of a slice.
  DL_DEVICE void add(const TileLine<C>* left, const TileLine<C>* right) {
    DL_UNROLL
    for (int d = 0; d < kDepth<C>; ++d) {
      const Four<C> a = left[d].four(row(0)), b = right[d].four(column(0));
      DL_UNROLL
      for (int r = 0; r < kOwn; ++r) {
        DL_UNROLL
        for (int c = 0; c < kOwn; ++c) at[r][c] += a.at[r] * b.at[c];
      }
    }
  }
};

// Load the slice of an operand that begins at depth `first`. Adjacent threads load adjacent
// elements.
template <class T, class C>
DL_DEVICE void load_slice(const TileOperand<T>& from, int64_t first, TileLine<C>* lines) {
  const bool along = from.matrix.column <= from.matrix.row;
  for (int i = thread_index(); i < kSide * kDepth<C>; i += kThreads) {
    const int d = along ? i % kDepth<C> : i / kSide, s = along ? i / kDepth<C> : i % kSide;
    const int64_t at = first + d;
    lines[d].at[s] = s < from.side && at < from.depth
                         ? cast<C>(from.matrix.data[s * from.matrix.row + at * from.matrix.column])
                         : C(0);
  }
}

// sums += left · rightᵀ
template <class T, class C>
DL_DEVICE void add_product(const TileOperand<T>& left, const TileOperand<T>& right,
                           TileSlices<C>& slices, TileSums<C>& sums) {
  for (int64_t first = 0; first < left.depth; first += kDepth<C>) {
    load_slice(left, first, slices.left);
    load_slice(right, first, slices.right);
    barrier();
    sums.add(slices.left, slices.right);
    barrier();
  }
}

// The same if all threads have shared `left`: kSide lines, zero from `right.depth` on.
template <class T, class C>
DL_DEVICE void add_shared_product(const TileLine<C>* left, const TileOperand<T>& right,
                                  TileSlices<C>& slices, TileSums<C>& sums) {
  for (int64_t first = 0; first < right.depth; first += kDepth<C>) {
    load_slice(right, first, slices.right);
    barrier();
    sums.add(left + first, slices.right);
    barrier();
  }
}

// All-reduce over the threads of a line of the square.
template <class T, class Combine>
DL_DEVICE T along_row(T mine, const Combine& combine) {
#if DL_KERNELS_NO_SHUFFLES
  return MemoryTeam(nullptr, thread_index() % kTile, kTile).all_reduce(mine, combine);
#else
  for (int mask = kTile / 2; mask > 0; mask /= 2) mine = combine(mine, shuffle_xor(mine, mask));
  return mine;
#endif
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TILES_H_
