// C = A B for row-major float matrices, on OpenCL devices: a work-group computes a tile of C, of
// which each work-item has ROWS x COLUMNS elements. Pieces of A and B pass through local memory.

#define GROUP_X 8   // tunable
#define GROUP_Y 8   // tunable
#define ROWS 2      // tunable
#define COLUMNS 2   // tunable
#define DEPTH 16    // tunable

#define TILE_M (GROUP_Y * ROWS)
#define TILE_N (GROUP_X * COLUMNS)
#define THREADS (GROUP_X * GROUP_Y)

kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void gemm(
    global const float* a, global const float* b, global float* c, long m, long n, long k) {
  local float left[TILE_M * DEPTH], right[DEPTH * TILE_N];
  const int x = get_local_id(0), y = get_local_id(1), thread = y * GROUP_X + x;
  const long top = get_group_id(1) * TILE_M, side = get_group_id(0) * TILE_N;
  float sum[ROWS][COLUMNS];
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) sum[i][j] = 0;
  }
  for (long start = 0; start < k; start += DEPTH) {
    for (int at = thread; at < TILE_M * DEPTH; at += THREADS) {
      const long row = top + at / DEPTH, column = start + at % DEPTH;
      left[at] = row < m && column < k ? a[row * k + column] : 0;
    }
    for (int at = thread; at < DEPTH * TILE_N; at += THREADS) {
      const long row = start + at / TILE_N, column = side + at % TILE_N;
      right[at] = row < k && column < n ? b[row * n + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < DEPTH; ++d) {
      for (int i = 0; i < ROWS; ++i) {
        const float factor = left[(y * ROWS + i) * DEPTH + d];
        for (int j = 0; j < COLUMNS; ++j) sum[i][j] += factor * right[d * TILE_N + j * GROUP_X + x];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      const long row = top + y * ROWS + i, column = side + j * GROUP_X + x;
      if (row < m && column < n) c[row * n + column] = sum[i][j];
    }
  }
}
