// C = A B for a batch of row-major float matrices on a CPU: each block of the grid computes one
// block of C of one product of the batch. Names in capitals are macros from the configuration.
#include "dl_cpu_kernel.h"

namespace {

constexpr int64_t kRows = BLOCK_SIZE_M, kColumns = BLOCK_SIZE_N, kDepth = BLOCK_SIZE_K;
constexpr int64_t kPart = kDepth / LOCAL_SPLIT_U;
// A constant, because macros are not expanded in the pragma.
constexpr int kUnroll = UNROLL_NUM;

// Contiguous copies of a block of A and a block of B.
struct Blocks {
  float left[kRows * kDepth];
  float right[kDepth * kColumns];

  static int64_t at(int64_t row, int64_t depth) {
    return IS_ATRANS ? depth * kRows + row : row * kDepth + depth;
  }
  void load(const float* a, const float* b, int64_t k, int64_t n) {
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kDepth; ++j) left[at(i, j)] = a[i * k + j];
    for (int64_t i = 0; i < kDepth; ++i)
      for (int64_t j = 0; j < kColumns; ++j) right[i * kColumns + j] = b[i * n + j];
  }
};

constexpr int lanes(int wanted) { return THREAD_SIZE_N % wanted ? lanes(wanted / 2) : wanted; }
constexpr int kLanes = lanes(16), kVectors = THREAD_SIZE_N / kLanes;
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

// Adds the sums of one thread of a block to C: THREAD_SIZE_M x THREAD_SIZE_N elements in registers,
// for each part into which the sums are split.
void add_tile(const Blocks& blocks, int64_t row, int64_t column, float* c, int64_t n) {
  for (int64_t part = 0; part < LOCAL_SPLIT_U; ++part) {
    Vector sums[THREAD_SIZE_M][kVectors] = {};
#pragma GCC unroll kUnroll
    for (int64_t k = part * kPart; k < (part + 1) * kPart; ++k) {
      const Vector* right = reinterpret_cast<const Vector*>(blocks.right + k * kColumns + column);
#pragma GCC unroll 16
      for (int i = 0; i < THREAD_SIZE_M; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < kVectors; ++j)
          sums[i][j] += blocks.left[Blocks::at(row + i, k)] * right[j];
    }
#pragma GCC unroll 16
    for (int i = 0; i < THREAD_SIZE_M; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kVectors; ++j)
        reinterpret_cast<Vector*>(c + (row + i) * n + column)[j] += sums[i][j];
  }
}

// Iterates over warps and their threads.
void add_block(const Blocks& blocks, float* c, int64_t n) {
  for (int64_t by = 0; by < BLOCK_LAYOUT_Y; ++by)
    for (int64_t bx = 0; bx < BLOCK_LAYOUT_X; ++bx)
      for (int64_t wy = 0; wy < WARP_LAYOUT_Y; ++wy)
        for (int64_t wx = 0; wx < WARP_LAYOUT_X; ++wx)
          add_tile(blocks, (by * WARP_LAYOUT_Y + wy) * THREAD_SIZE_M,
                   (bx * WARP_LAYOUT_X + wx) * THREAD_SIZE_N, c, n);
}

}  // namespace

// (const float* a, const float* b, float* c)
DL_CPU_KERNEL(gemm) {
  const int64_t m = M_SIZE, n = N_SIZE, k = K_SIZE;
  const int64_t across = n / kColumns, down = m / kRows;
  const int64_t batch = block->index[0] / (across * down);
  const int64_t number = block->index[0] % (across * down);
  const float* a = dl_cpu_argument<const float*>(arguments, 0) + batch * m * k;
  const float* b = dl_cpu_argument<const float*>(arguments, 1) + batch * k * n;
  float* c = dl_cpu_argument<float*>(arguments, 2) + batch * m * n;
  // Traverses BLOCK_MAPPING rows of blocks column by column, so that their B stays in the cache.
  const int64_t group = BLOCK_MAPPING ? BLOCK_MAPPING : 1, top = number / (group * across) * group;
  const int64_t height = down - top < group ? down - top : group;
  const int64_t inside = number % (group * across);
  const int64_t row = (top + inside % height) * kRows, column = inside / height * kColumns;
  float* out = c + row * n + column;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) out[i * n + j] = 0.0f;
  static thread_local Blocks blocks;
  for (int64_t begin = 0; begin < k; begin += kDepth) {
    blocks.load(a + row * k + begin, b + begin * n + column, k, n);
    add_block(blocks, out, n);
  }
}
