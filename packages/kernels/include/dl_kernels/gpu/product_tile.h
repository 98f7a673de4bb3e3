// Tiling of a matrix product over blocks and threads. A block computes a tile of the result; slices
// of its operands pass through shared memory. If there are too few tiles to keep a GPU busy, the
// sum is split into pieces that are added afterwards (split-K).
#ifndef DL_KERNELS_GPU_PRODUCT_TILE_H_
#define DL_KERNELS_GPU_PRODUCT_TILE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/tiles.h"

DL_KERNELS_BEGIN

namespace gpu {

// Parameters that may be tuned for another GPU; everything else follows from them.
struct ProductTuning {
  // Elements of the result per thread in each direction, for a large and a small tile.
  static constexpr int kLargeOwn = 8, kSmallOwn = 4;
  // On tensor cores: rows of warps per block, and per warp the tiles of 16 rows and of 8 columns.
  static constexpr int kWarpRows = 2;
  static constexpr int kLargeRows = 4, kLargeColumns = 4, kSmallRows = 2, kSmallColumns = 2;
  // On tensor cores: depth of a slice, and number of slices in shared memory.
  static constexpr int kDepth = 32, kStages = 3;
  // Number of tiles from which large ones pay off; number of blocks that splitting the sums aims
  // for; length of the shortest piece.
  static constexpr int64_t kManyTiles = 128, kBusyBlocks = 256, kShortestPiece = 256;
  // Rows of tiles processed together, so that their operands stay in the cache.
  static constexpr int64_t kTogether = 8;
};

// Products of `batch` pairs of m × k and k × n matrices, divided into tiles and `pieces` of length
// `piece` along k.
struct ProductShape {
  int64_t batch, m, n, k;
  int64_t down, across;  // tiles
  int64_t pieces, piece;

  int64_t blocks() const { return batch * pieces * down * across; }
};

// The work of a block.
struct ProductTask {
  int64_t matrix, piece, row, column, begin, end;
};

DL_DEVICE ProductTask product_task(const ProductShape& shape, int64_t item, int rows, int columns) {
  const int64_t tiles = shape.down * shape.across, tile = item % tiles, outer = item / tiles;
  const int64_t band = ProductTuning::kTogether * shape.across, first = tile / band;
  const int64_t left = shape.down - first * ProductTuning::kTogether;
  const int64_t height = left < ProductTuning::kTogether ? left : ProductTuning::kTogether;
  const int64_t in_band = tile - first * band, piece = outer % shape.pieces;
  const int64_t begin = piece * shape.piece;
  return {outer / shape.pieces,
          piece,
          (first * ProductTuning::kTogether + in_band % height) * rows,
          in_band / height * columns,
          begin,
          shape.k - begin < shape.piece ? shape.k : begin + shape.piece};
}

// Destination of a kernel's results: the sink or, if there are several pieces, consecutive partial
// results.
template <class C, class Sink>
struct ProductOutput {
  Sink sink;
  C* parts;  // [piece][matrix][row][column], or null

  // Return true if adjacent elements of a column are contiguous; false: adjacent ones of a row.
  DL_DEVICE bool is_transposed() const { return parts == nullptr && sink.is_transposed(); }

  // Store the adjacent elements of a row (if transposed, of a column) that exist.
  template <int kCount>
  DL_DEVICE void put(const ProductShape& shape, const ProductTask& task, int64_t row,
                     int64_t column, const C (&values)[kCount]) const {
    if (row >= shape.m || column >= shape.n) return;
    const bool transposed = is_transposed();
    const int64_t left = transposed ? shape.m - row : shape.n - column;
    const int count = left < kCount ? static_cast<int>(left) : kCount;
    if (parts == nullptr) {
      sink.put(task.matrix, row, column, values, count);
      return;
    }
    C* const to =
        parts + ((task.piece * shape.batch + task.matrix) * shape.m + row) * shape.n + column;
    DL_UNROLL
    for (int i = 0; i < kCount; ++i) {
      if (i < count) to[i] = values[i];
    }
  }
};

// Sum the pieces of an element.
template <class C, class Sink>
struct SumPiecesItem {
  Sink sink;
  const C* parts;
  int64_t pieces, count, m, n;

  DL_FN void operator()(int64_t i) const {
    C total[1] = {parts[i]};
    for (int64_t p = 1; p < pieces; ++p) total[0] = wrap_add(total[0], parts[p * count + i]);
    sink.put(i / (m * n), i / n % m, i % n, total, 1);
  }
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PRODUCT_TILE_H_
