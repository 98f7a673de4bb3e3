// Code shared by the attention kernels: tiling of a problem, loading of operands, and masking of
// scores.
#ifndef DL_KERNELS_GPU_ATTENTION_TILE_H_
#define DL_KERNELS_GPU_ATTENTION_TILE_H_

#include <cstdint>

#include "dl_kernels/attention/attention_dropout.h"
#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/tiles.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class C>
struct AttentionScratch {
  TileSlices<C> slices;
  TileLine<C> weights[kSide];
};

// The work of a block: a tile of rows of one head, and a chunk of columns of the result.
struct AttentionTask {
  int64_t sample, head, first, column;
};

// Number of tasks for tensors of the given rows and columns; at least one for each tile of rows.
struct AttentionTasks {
  int64_t heads, tiles, chunks, count;

  AttentionTasks(int64_t batch, int64_t head_count, int64_t rows, int64_t columns)
      : heads(head_count),
        tiles((rows + kSide - 1) / kSide),
        chunks(columns > kSide ? (columns + kSide - 1) / kSide : 1),
        count(batch * heads * tiles * chunks) {}

  DL_FN AttentionTask at(int64_t item) const {
    const int64_t of_head = item / (tiles * chunks);
    return {of_head / heads, of_head % heads, item / chunks % tiles * kSide, item % chunks * kSide};
  }
  int64_t blocks() const {
    constexpr int64_t kMost = 1 << 20;
    return count < kMost ? count : kMost;
  }
};

DL_FN int64_t tile_extent(int64_t first, int64_t end) {
  return end - first < kSide ? end - first : kSide;
}

// Return rows first … first + count - 1 of a head as an operand, summed along the columns.
template <class T>
DL_FN TileOperand<T> tile_rows(const Strided4<const T>& tensor, int64_t n, int64_t h, int64_t first,
                               int64_t count, int64_t width) {
  return {{tensor.at(n, h, first), tensor.row, tensor.column}, count, width};
}

// Return the columns from `column` on of these rows as an operand, summed along the rows.
template <class T>
DL_FN TileOperand<T> tile_columns(const Strided4<const T>& tensor, int64_t n, int64_t h,
                                  int64_t first, int64_t count, int64_t width, int64_t column) {
  return {{tensor.at(n, h, first) + column * tensor.column, tensor.column, tensor.row},
          width - column,
          count};
}

// Return the score of a query and a key, given their product; -infinity if the query does not
// attend to the key.
template <class T, class C>
DL_DEVICE C masked_score(const AttentionShape& shape, const AttentionMask& mask, int64_t n,
                         int64_t h, int64_t query, int64_t key, C product) {
  if (query >= shape.queries || key < shape.first_key(query) || key >= shape.end_key(query))
    return lowest<C>();
  C score = product * static_cast<C>(shape.scale);
  if (mask.slopes != nullptr) {
    const int64_t distance = query + shape.shift() - key;
    score -= static_cast<C>(mask.slope(n, h)) * static_cast<C>(distance < 0 ? -distance : distance);
  }
  const int64_t at = n * mask.batch + h * mask.head + query * mask.row + key * mask.column;
  switch (mask.kind) {
    case MaskKind::boolean:
      return cast<bool>(static_cast<const Bool*>(mask.data)[at]) ? score : lowest<C>();
    case MaskKind::hiding:
      return cast<bool>(static_cast<const Bool*>(mask.data)[at]) ? lowest<C>() : score;
    case MaskKind::element:
      return score + cast<C>(static_cast<const T*>(mask.data)[at]);
    case MaskKind::compute:
      return score + static_cast<const C*>(mask.data)[at];
    default:
      return score;
  }
}

// Store a thread's elements, times `factor(r)`, to the existing rows and columns of a result.
template <class T, class C, class Factor>
DL_DEVICE void write_tile(TileSums<C>& sums, const Strided4<T>& to, const AttentionTask& task,
                          int64_t rows, int64_t columns, const Factor& factor) {
  sums.each([&](int r, int c, C& value) {
    const int64_t row = task.first + sums.row(r), column = task.column + sums.column(c);
    if (row < rows && column < columns)
      to.at(task.sample, task.head, row)[column * to.column] = cast<T>(value * factor(r));
  });
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_TILE_H_
