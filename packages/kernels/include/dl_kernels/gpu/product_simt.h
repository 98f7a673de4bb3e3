// Matrix products without tensor cores: each thread keeps a square of the result in registers.
// While a slice is multiplied, the next one is loaded into registers and then into the other half
// of shared memory (double buffering).
#ifndef DL_KERNELS_GPU_PRODUCT_SIMT_H_
#define DL_KERNELS_GPU_PRODUCT_SIMT_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/matrix_source.h"
#include "dl_kernels/gpu/product_tile.h"

DL_KERNELS_BEGIN

namespace gpu {

// Accumulate type; for integers, one of the same width that wraps.
template <class T>
using product_sum_t =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, compute_t<T>>;

template <class T, int kOwnSide>
struct SimtTile {
  using S = product_sum_t<T>;
  static constexpr int kSides = kOwnSide * kTile;
  // Chosen so that each thread loads one or a few chunks of an operand.
  static constexpr int kSlice = kOwnSide == 8 ? 8 : 4 * kChunk<T> > 16 ? 16 : 4 * kChunk<T>;
  static constexpr int kChunks = kSides * kSlice / kChunk<T> / kThreads;
  static_assert(kChunks * kChunk<T> * kThreads == kSides * kSlice, "threads share a slice evenly");
  static constexpr int kGroups = kOwnSide / 4;

  // Padded so that groups stay aligned and columns cause no bank conflicts.
  struct Side {
    Four<S> group[kSides / 4 + 1];
  };
  struct Operand {
    Side slice[2][kSlice];
  };

  // Index of the g-th group of four of a thread, in a line of the square.
  DL_DEVICE static int group(int line, int g) { return g * kTile + line; }
};

// A thread's part of the slices of an operand.
template <class T, int kOwnSide, class Source>
class SimtLoader {
  using Tile = SimtTile<T, kOwnSide>;
  using S = typename Tile::S;
  static constexpr int kChunks = Tile::kChunks;

 public:
  DL_DEVICE SimtLoader(const Source& source, int64_t matrix, int64_t first) : source_(source) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) origins_[i] = source.origin(matrix, first + side(i));
  }

  DL_DEVICE void fetch(int64_t begin, int64_t end) {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const int64_t d = begin + depth(i);
      if (source_.whole) {
        int count;
        const T* const from = source_.chunk(origins_[i], d, end, &count);
        if (count == kChunk<T>) {
          held_[i] = *reinterpret_cast<const Chunk<T>*>(from);
          continue;
        }
      }
      source_.gather(origins_[i], d, end, held_[i]);
    }
  }

  DL_DEVICE void put(typename Tile::Side* slice) const {
    DL_UNROLL
    for (int i = 0; i < kChunks; ++i) {
      const int s = side(i), d = depth(i);
      S values[kChunk<T>];
      DL_UNROLL
      for (int e = 0; e < kChunk<T>; ++e) values[e] = cast<S>(held_[i].at[e]);
      if (source_.along_depth) {
        DL_UNROLL
        for (int e = 0; e < kChunk<T>; ++e) slice[d + e].group[s / 4].at[s % 4] = values[e];
      } else {
        DL_UNROLL
        for (int e = 0; e < kChunk<T>; ++e) slice[d].group[s / 4].at[s % 4 + e] = values[e];
      }
    }
  }

 private:
  // Adjacent threads load adjacent chunks, in whichever direction is contiguous.
  DL_DEVICE int side(int i) const {
    const int c = thread_index() + i * kThreads;
    constexpr int kOfDepth = Tile::kSlice / kChunk<T>, kOfSide = Tile::kSides / kChunk<T>;
    return source_.along_depth ? c / kOfDepth : c % kOfSide * kChunk<T>;
  }
  DL_DEVICE int depth(int i) const {
    const int c = thread_index() + i * kThreads;
    constexpr int kOfDepth = Tile::kSlice / kChunk<T>, kOfSide = Tile::kSides / kChunk<T>;
    return source_.along_depth ? c % kOfDepth * kChunk<T> : c / kOfSide;
  }

  const Source& source_;
  typename Source::Origin origins_[kChunks];
  Chunk<T> held_[kChunks];
};

template <class T, int kOwnSide, class A, class B, class Output>
DL_KERNEL_FOR_BLOCKS(B::kBlocks)
void simt_product_kernel(ProductShape shape, A a, B b, Output output) {
  using Tile = SimtTile<T, kOwnSide>;
  using S = typename Tile::S;
  DL_SHARED typename Tile::Operand left, right;
  const int line = thread_index() / kTile, lane = thread_index() % kTile;
  const ProductTask task = product_task(shape, block_index(), Tile::kSides, Tile::kSides);
  SimtLoader<T, kOwnSide, A> of_a(a, task.matrix, task.row);
  SimtLoader<T, kOwnSide, B> of_b(b, task.matrix, task.column);
  S sums[kOwnSide][kOwnSide] = {};
  int now = 1;
  // The first iteration only loads.
  for (int64_t next = task.begin;; next += Tile::kSlice) {
    const bool more = next < task.end;
    if (more) {
      of_a.fetch(next, task.end);
      of_b.fetch(next, task.end);
    }
    if (next != task.begin) {
      DL_UNROLL
      for (int d = 0; d < Tile::kSlice; ++d) {
        Four<S> x[Tile::kGroups], y[Tile::kGroups];
        DL_UNROLL
        for (int g = 0; g < Tile::kGroups; ++g) {
          x[g] = left.slice[now][d].group[Tile::group(line, g)];
          y[g] = right.slice[now][d].group[Tile::group(lane, g)];
        }
        DL_UNROLL
        for (int r = 0; r < kOwnSide; ++r) {
          DL_UNROLL
          for (int c = 0; c < kOwnSide; ++c) sums[r][c] += x[r / 4].at[r % 4] * y[c / 4].at[c % 4];
        }
      }
    }
    if (!more) break;
    now ^= 1;
    of_a.put(left.slice[now]);
    of_b.put(right.slice[now]);
    barrier();
  }
  if (output.is_transposed()) {
    DL_UNROLL
    for (int c = 0; c < kOwnSide; ++c) {
      const int64_t column = task.column + Tile::group(lane, c / 4) * 4 + c % 4;
      DL_UNROLL
      for (int g = 0; g < Tile::kGroups; ++g) {
        S four[4];
        DL_UNROLL
        for (int e = 0; e < 4; ++e) four[e] = sums[4 * g + e][c];
        output.put(shape, task, task.row + Tile::group(line, g) * 4, column, four);
      }
    }
    return;
  }
  DL_UNROLL
  for (int r = 0; r < kOwnSide; ++r) {
    const int64_t row = task.row + Tile::group(line, r / 4) * 4 + r % 4;
    DL_UNROLL
    for (int g = 0; g < Tile::kGroups; ++g) {
      S four[4];
      DL_UNROLL
      for (int e = 0; e < 4; ++e) four[e] = sums[r][4 * g + e];
      output.put(shape, task, row, task.column + Tile::group(lane, g) * 4, four);
    }
  }
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PRODUCT_SIMT_H_
