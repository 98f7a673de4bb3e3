// GPU matrix product without a library: square tiles of both operands pass through the block's
// shared memory, and every thread keeps one element of C. Where C has too few tiles to keep a GPU
// busy, k is cut into pieces whose products are added up afterwards.
#ifndef DL_KERNELS_GPU_GEMM_H_
#define DL_KERNELS_GPU_GEMM_H_

#include <algorithm>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/tiles.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class C>
struct GemmTiles {
  C a[kTile][kTile];
  C b[kTile][kTile + 1];
};

// Piece p of `pieces`, which have a multiple of kTile of k each, is written `c_step` elements
// behind piece p - 1.
template <class T, class O, class C>
DL_KERNEL void gemm_kernel(int64_t m, int64_t n, int64_t k, int64_t pieces, int64_t piece, C alpha,
                           Matrix<const T> a, Matrix<const T> b, C beta, Matrix<O> c,
                           int64_t c_step) {
  DL_SHARED GemmTiles<C> tiles;
  const int x = thread_index() % kTile, y = thread_index() / kTile;
  const int64_t across = (n + kTile - 1) / kTile, count = across * ((m + kTile - 1) / kTile);
  for (int64_t item = block_index(); item < count * pieces; item += block_count()) {
    const int64_t tile = item % count, begin = item / count * piece;
    const int64_t end = k - begin < piece ? k : begin + piece;
    const int64_t row = tile / across * kTile + y, column = tile % across * kTile + x;
    C total = 0;
    for (int64_t first = begin; first < end; first += kTile) {
      const int64_t at = first + x, down = first + y;
      tiles.a[y][x] = row < m && at < end ? cast<C>(a.data[row * a.row + at * a.column]) : C(0);
      tiles.b[y][x] =
          down < end && column < n ? cast<C>(b.data[down * b.row + column * b.column]) : C(0);
      barrier();
      for (int i = 0; i < kTile; ++i)
        total = wrap_add(total, wrap_mul(tiles.a[y][i], tiles.b[i][x]));
      barrier();
    }
    if (row < m && column < n) {
      O* to = c.data + item / count * c_step + row * c.row + column * c.column;
      const C scaled = wrap_mul(alpha, total);
      *to = cast<O>(beta == C(0) ? scaled : wrap_add(scaled, wrap_mul(beta, cast<C>(*to))));
    }
  }
}

// Pieces are made until there are so many blocks, none of less of k than this.
inline constexpr int64_t kBusyBlocks = 512, kShortestPiece = 128;

// Adds up the pieces of an element of C.
template <class O, class C>
struct SumPiecesItem {
  const C* parts;
  int64_t pieces, m, n;
  C alpha, beta;
  Matrix<O> c;

  DL_FN void operator()(int64_t i) const {
    C total = parts[i];
    for (int64_t p = 1; p < pieces; ++p) total = wrap_add(total, parts[p * m * n + i]);
    O* to = c.data + i / n * c.row + i % n * c.column;
    const C scaled = wrap_mul(alpha, total);
    *to = cast<O>(beta == C(0) ? scaled : wrap_add(scaled, wrap_mul(beta, cast<C>(*to))));
  }
};

}  // namespace gpu

// C must not overlap A or B. k may be 0. T is the element type of A and B, O that of C. Beta 0 does
// not read C.
template <class T, class O = T, class C = compute_t<T>>
void gemm(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
          Matrix<const T> b, C beta, Matrix<O> c) {
  if (m == 0 || n == 0) return;
  constexpr int64_t kMost = 1 << 20;
  const int64_t tiles = ((m + gpu::kTile - 1) / gpu::kTile) * ((n + gpu::kTile - 1) / gpu::kTile);
  const int64_t wanted = std::min(gpu::kBusyBlocks / tiles, k / gpu::kShortestPiece);
  if (wanted <= 1) {
    gpu::run_blocks(launch.stream(), std::min(tiles, kMost), gpu::gemm_kernel<T, O, C>, m, n, k,
                    int64_t(1), k, alpha, a, b, beta, c, int64_t(0));
    return;
  }
  const int64_t piece = (k + wanted * gpu::kTile - 1) / (wanted * gpu::kTile) * gpu::kTile;
  const int64_t pieces = (k + piece - 1) / piece;
  const Workspace<C> parts(launch, pieces * m * n);
  gpu::run_blocks(launch.stream(), tiles * pieces, gpu::gemm_kernel<T, C, C>, m, n, k, pieces,
                  piece, C(1), a, b, C(0), Matrix<C>{parts.data(), n, 1}, m * n);
  each(launch, m * n, pieces, gpu::SumPiecesItem<O, C>{parts.data(), pieces, m, n, alpha, beta, c});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_GEMM_H_
