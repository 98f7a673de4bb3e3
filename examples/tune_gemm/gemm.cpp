// C = A B for row-major float matrices: a block of the grid computes one tile of C.
#include "dl_cpu_kernel.h"

namespace {

constexpr int TILE_M = 32;  // tunable
constexpr int TILE_N = 32;  // tunable
constexpr int TILE_K = 32;  // tunable
constexpr int ROWS = 4;     // tunable
constexpr int LANES = 8;    // tunable

typedef float Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

// ROWS x LANES elements of C in registers, over one piece of K.
template <int kRows>
void strip(const float* a, const float* b, float* c, int64_t depth, int64_t k, int64_t n) {
  Vector sum[kRows];
  for (int row = 0; row < kRows; ++row) sum[row] = *reinterpret_cast<Vector*>(c + row * n);
  for (int64_t i = 0; i < depth; ++i) {
    const Vector right = *reinterpret_cast<const Vector*>(b + i * n);
    for (int row = 0; row < kRows; ++row) sum[row] += a[row * k + i] * right;
  }
  for (int row = 0; row < kRows; ++row) *reinterpret_cast<Vector*>(c + row * n) = sum[row];
}

void single(const float* a, const float* b, float* c, int64_t depth, int64_t n) {
  for (int64_t i = 0; i < depth; ++i) *c += a[i] * b[i * n];
}

}  // namespace

DL_CPU_KERNEL(gemm) {
  const float* a = dl_cpu_argument<const float*>(arguments, 0);
  const float* b = dl_cpu_argument<const float*>(arguments, 1);
  float* c = dl_cpu_argument<float*>(arguments, 2);
  const int64_t m = dl_cpu_argument<int64_t>(arguments, 3);
  const int64_t n = dl_cpu_argument<int64_t>(arguments, 4);
  const int64_t k = dl_cpu_argument<int64_t>(arguments, 5);
  const int64_t top = int64_t{block->index[1]} * TILE_M, left = int64_t{block->index[0]} * TILE_N;
  const int64_t bottom = top + TILE_M < m ? top + TILE_M : m;
  const int64_t right = left + TILE_N < n ? left + TILE_N : n;
  for (int64_t row = top; row < bottom; ++row)
    for (int64_t column = left; column < right; ++column) c[row * n + column] = 0.0f;
  for (int64_t begin = 0; begin < k; begin += TILE_K) {
    const int64_t depth = begin + TILE_K < k ? TILE_K : k - begin;
    for (int64_t row = top; row < bottom;) {
      const int rows = row + ROWS <= bottom ? ROWS : 1;
      int64_t column = left;
      for (; column + LANES <= right; column += LANES) {
        float* out = c + row * n + column;
        const float* from = b + begin * n + column;
        if (rows == ROWS)
          strip<ROWS>(a + row * k + begin, from, out, depth, k, n);
        else
          strip<1>(a + row * k + begin, from, out, depth, k, n);
      }
      for (; column < right; ++column)
        for (int64_t i = row; i < row + rows; ++i)
          single(a + i * k + begin, b + begin * n + column, c + i * n + column, depth, n);
      row += rows;
    }
  }
}
