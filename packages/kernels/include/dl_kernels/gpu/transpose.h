// GPU: copies between layouts with different innermost dimensions, through tiles in shared memory,
// so that adjacent threads both read and write adjacent elements.
#ifndef DL_KERNELS_GPU_TRANSPOSE_H_
#define DL_KERNELS_GPU_TRANSPOSE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_walk.h"
#include "dl_kernels/layout/plan.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int kTransposeSide = 32;

// The output is dense along the dimension `columns`, the input along `rows`.
struct TransposeWalk {
  uint32_t rows, columns;
  Divider tiles_across, tiles_down;
  uint32_t tiles;
  int32_t out_row, in_column;  // strides; the others are 1
  int outer;
  Divider extents[kMaxDims - 2];
  int32_t strides[2][kMaxDims - 2];
};

template <class U>
DL_KERNEL void transpose_kernel(TransposeWalk walk, U* to, const U* from) {
  // Padded by a column to avoid bank conflicts within a column.
  DL_SHARED struct {
    U at[kTransposeSide][kTransposeSide + 1];
  } tile;
  constexpr int kStep = kThreads / kTransposeSide;
  const int x = thread_index() % kTransposeSide, y = thread_index() / kTransposeSide;
  for (uint32_t t = static_cast<uint32_t>(block_index()); t < walk.tiles;
       t += static_cast<uint32_t>(block_count())) {
    uint32_t rest = walk.tiles_across.quotient(t);
    const uint32_t column = (t - rest * walk.tiles_across.divisor()) * kTransposeSide;
    uint32_t batch = walk.tiles_down.quotient(rest);
    const uint32_t row = (rest - batch * walk.tiles_down.divisor()) * kTransposeSide;
    int32_t out = 0, in = 0;
    for (int d = 0; d < walk.outer; ++d) {
      rest = walk.extents[d].quotient(batch);
      const int32_t at = static_cast<int32_t>(batch - rest * walk.extents[d].divisor());
      out += at * walk.strides[0][d];
      in += at * walk.strides[1][d];
      batch = rest;
    }
    DL_UNROLL
    for (int i = y; i < kTransposeSide; i += kStep) {
      if (column + i < walk.columns && row + x < walk.rows)
        tile.at[i][x] = from[in + static_cast<int32_t>(column + i) * walk.in_column +
                             static_cast<int32_t>(row + x)];
    }
    barrier();
    DL_UNROLL
    for (int i = y; i < kTransposeSide; i += kStep) {
      if (row + i < walk.rows && column + x < walk.columns)
        to[out + static_cast<int32_t>(row + i) * walk.out_row + static_cast<int32_t>(column + x)] =
            tile.at[x][i];
    }
    barrier();
  }
}

template <size_t kBytes>
using BitsOf = std::conditional_t<kBytes == 16, Bits128, bits_t<unsigned char[kBytes]>>;

// Copy a small plan of output and input through tiles if that is suitable; return true if done.
template <size_t kBytes>
bool copy_transposed(const Launch& launch, const Plan<2>& plan, void* to, const void* from) {
  const int inner = plan.ndim - 1;
  if (plan.strides[0][inner] != 1 || plan.strides[1][inner] == 1) return false;
  int rows = 0;
  while (rows < inner && plan.strides[1][rows] != 1) ++rows;
  // Narrow matrices would leave most of a tile empty.
  if (rows == inner || plan.shape[inner] < 8 || plan.shape[rows] < 8) return false;
  TransposeWalk walk{};
  walk.columns = static_cast<uint32_t>(plan.shape[inner]);
  walk.rows = static_cast<uint32_t>(plan.shape[rows]);
  walk.out_row = static_cast<int32_t>(plan.strides[0][rows]);
  walk.in_column = static_cast<int32_t>(plan.strides[1][inner]);
  const uint32_t across = (walk.columns + kTransposeSide - 1) / kTransposeSide;
  const uint32_t down = (walk.rows + kTransposeSide - 1) / kTransposeSide;
  walk.tiles_across = Divider(across);
  walk.tiles_down = Divider(down);
  walk.tiles = across * down;
  for (int d = inner - 1; d >= 0; --d) {
    if (d == rows) continue;
    walk.extents[walk.outer] = Divider(static_cast<uint32_t>(plan.shape[d]));
    walk.strides[0][walk.outer] = static_cast<int32_t>(plan.strides[0][d]);
    walk.strides[1][walk.outer++] = static_cast<int32_t>(plan.strides[1][d]);
    walk.tiles *= static_cast<uint32_t>(plan.shape[d]);
  }
  using U = BitsOf<kBytes>;
  constexpr int64_t kMost = 1 << 16;
  run_blocks(launch.stream(), walk.tiles < kMost ? walk.tiles : kMost, transpose_kernel<U>, walk,
             static_cast<U*>(to), static_cast<const U*>(from));
  return true;
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TRANSPOSE_H_
