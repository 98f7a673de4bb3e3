// GPU matrix product without a library: square tiles of both operands pass through the block's
// shared memory, and every thread keeps one element of C.
#ifndef DL_KERNELS_GPU_GEMM_H_
#define DL_KERNELS_GPU_GEMM_H_

#include <cstdint>

#include "dl_kernels/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/tiles.h"
#include "dl_kernels/matrix.h"
#include "dl_kernels/numeric.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class C>
struct GemmTiles {
  C a[kTile][kTile];
  C b[kTile][kTile + 1];
};

template <class T, class O, class C>
DL_KERNEL void gemm_kernel(int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
                           Matrix<const T> b, C beta, Matrix<O> c) {
  DL_SHARED GemmTiles<C> tiles;
  const int x = thread_index() % kTile, y = thread_index() / kTile;
  const int64_t across = (n + kTile - 1) / kTile, count = across * ((m + kTile - 1) / kTile);
  for (int64_t tile = block_index(); tile < count; tile += block_count()) {
    const int64_t row = tile / across * kTile + y, column = tile % across * kTile + x;
    C total = 0;
    for (int64_t first = 0; first < k; first += kTile) {
      const int64_t at = first + x, down = first + y;
      tiles.a[y][x] = row < m && at < k ? cast<C>(a.data[row * a.row + at * a.column]) : C(0);
      tiles.b[y][x] =
          down < k && column < n ? cast<C>(b.data[down * b.row + column * b.column]) : C(0);
      barrier();
      for (int i = 0; i < kTile; ++i)
        total = wrap_add(total, wrap_mul(tiles.a[y][i], tiles.b[i][x]));
      barrier();
    }
    if (row < m && column < n) {
      O* to = c.data + row * c.row + column * c.column;
      const C scaled = wrap_mul(alpha, total);
      *to = cast<O>(beta == C(0) ? scaled : wrap_add(scaled, wrap_mul(beta, cast<C>(*to))));
    }
  }
}

}  // namespace gpu

// C must not overlap A or B. k may be 0. T is the element type of A and B, O that of C. Beta 0 does
// not read C.
template <class T, class O = T, class C = compute_t<T>>
void gemm(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
          Matrix<const T> b, C beta, Matrix<O> c) {
  if (m == 0 || n == 0) return;
  constexpr int64_t kMost = 1 << 20;
  const int64_t tiles = ((m + gpu::kTile - 1) / gpu::kTile) * ((n + gpu::kTile - 1) / gpu::kTile);
  gpu::run_blocks(launch.stream(), tiles < kMost ? tiles : kMost, gpu::gemm_kernel<T, O, C>, m, n,
                  k, alpha, a, b, beta, c);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_GEMM_H_
