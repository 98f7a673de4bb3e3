// C = A B for a batch of row-major float matrices, in the common subset of CUDA C++, HIP C++ and
// OpenCL C: each block of the grid computes one block of C of one product of the batch. Names in
// capitals are macros from the configuration.
#ifdef __OPENCL_VERSION__
#define FUNCTION static inline
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define BLOCK ((int)get_group_id(0))
#define THREAD ((int)get_local_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define FUNCTION static __device__
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define BLOCK ((int)blockIdx.x)
#define THREAD ((int)threadIdx.x)
#define BARRIER() __syncthreads()
#endif

// Whole numbers of 64 bits: offsets into matrices may need them.
typedef long wide_t;

enum {
  kRows = BLOCK_SIZE_M,
  kColumns = BLOCK_SIZE_N,
  kDepth = BLOCK_SIZE_K,
  kLanes = WARP_LAYOUT_Y * WARP_LAYOUT_X,
  kBase = BLOCK_LAYOUT_Y * BLOCK_LAYOUT_X * kLanes,
  kThreads = kBase * LOCAL_SPLIT_U,
  kPart = kDepth / LOCAL_SPLIT_U,
  kLeft = kRows * kDepth,
  kTile = kLeft + kDepth * kColumns,
  kBuffers = 1 + SHARED_PREFETCH,
  // Room for one row of sums of each thread, when the parts of split sums are added.
  kScratch = (LOCAL_SPLIT_U - 1) * kBase * THREAD_SIZE_N,
  kShared = kBuffers * kTile > kScratch ? kBuffers * kTile : kScratch,
  kSums = THREAD_SIZE_M * THREAD_SIZE_N,
};

// Position of an element of A in its block.
#if IS_ATRANS
#define LEFT_AT(row, depth) ((depth) * kRows + (row))
#else
#define LEFT_AT(row, depth) ((row) * kDepth + (depth))
#endif

// Copies a block of A and a block of B to shared memory. Each thread copies runs of
// GLOB_LOAD_WIDTH_A and GLOB_LOAD_WIDTH_B elements.
FUNCTION void load_blocks(GLOBAL const float* a, GLOBAL const float* b,
                          SHARED_POINTER float* left) {
  SHARED_POINTER float* right = left + kLeft;
  for (int run = THREAD * GLOB_LOAD_WIDTH_A; run < kLeft; run += kThreads * GLOB_LOAD_WIDTH_A)
    for (int i = run; i < run + GLOB_LOAD_WIDTH_A; ++i)
      left[LEFT_AT(i / kDepth, i % kDepth)] = a[(wide_t)(i / kDepth) * K_SIZE + i % kDepth];
  for (int run = THREAD * GLOB_LOAD_WIDTH_B; run < kDepth * kColumns;
       run += kThreads * GLOB_LOAD_WIDTH_B)
    for (int i = run; i < run + GLOB_LOAD_WIDTH_B; ++i)
      right[i] = b[(wide_t)(i / kColumns) * N_SIZE + i % kColumns];
}

#if TENSOR_CORES && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// A warp computes its part of the block from products of 16x8 by 8x8 fragments on tensor cores,
// which read the first 10 bits of a mantissa. The layouts of the fragments are those of mma.m16n8k8
// in the PTX ISA, section "Matrix Fragments for mma.m16n8k8".
enum {
  kDown = WARP_LAYOUT_Y * THREAD_SIZE_M / 16,
  kAcross = WARP_LAYOUT_X * THREAD_SIZE_N / 8,
};

FUNCTION unsigned rounded(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

FUNCTION void add_products(const float* left, int row, int column, int, float* sums) {
  const float* right = left + kLeft;
  const int group = THREAD % 32 / 4, member = THREAD % 4;
  for (int k = member; k < kDepth; k += 8) {
    unsigned b[kAcross][2];
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
      for (int part = 0; part < 2; ++part)
        b[j][part] = rounded(right[(k + 4 * part) * kColumns + column + 8 * j + group]);
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      unsigned a[4];
#pragma unroll
      for (int part = 0; part < 4; ++part)
        a[part] = rounded(left[LEFT_AT(row + 16 * i + group + part % 2 * 8, k + part / 2 * 4)]);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        float* sum = sums + 4 * (i * kAcross + j);
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[j][0]), "r"(b[j][1]));
      }
    }
  }
}

FUNCTION void store_sums(float* c, int row, int column, const float* sums) {
  const int group = THREAD % 32 / 4, member = THREAD % 4;
  for (int i = 0; i < kSums; ++i) {
    const int tile = i / 4, part = i % 4;
    const int down = row + 16 * (tile / kAcross) + group + part / 2 * 8;
    c[(wide_t)down * N_SIZE + column + 8 * (tile % kAcross) + 2 * member + part % 2] = sums[i];
  }
}

#define FIRST_ROW(lane) 0
#define FIRST_COLUMN(lane) 0
#else
// A thread computes THREAD_SIZE_M x THREAD_SIZE_N elements, for one part of the sums.
FUNCTION void add_products(SHARED_POINTER const float* left, int row, int column, int part,
                           float* sums) {
  SHARED_POINTER const float* right = left + kLeft;
#if UNROLL_NUM > 0
#pragma unroll UNROLL_NUM
#endif
  for (int k = part * kPart; k < (part + 1) * kPart; ++k)
    for (int i = 0; i < THREAD_SIZE_M; ++i)
      for (int j = 0; j < THREAD_SIZE_N; ++j)
        sums[i * THREAD_SIZE_N + j] += left[LEFT_AT(row + i, k)] * right[k * kColumns + column + j];
}

FUNCTION void store_sums(GLOBAL float* c, int row, int column, const float* sums) {
  for (int i = 0; i < THREAD_SIZE_M; ++i)
    for (int j = 0; j < THREAD_SIZE_N; ++j)
      c[(wide_t)(row + i) * N_SIZE + column + j] = sums[i * THREAD_SIZE_N + j];
}

#define FIRST_ROW(lane) ((lane) / WARP_LAYOUT_X * THREAD_SIZE_M)
#define FIRST_COLUMN(lane) ((lane) % WARP_LAYOUT_X * THREAD_SIZE_N)
#endif

#ifdef __OPENCL_VERSION__
__kernel void gemm(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c) {
#else
extern "C" __global__ void gemm(const float* a, const float* b, float* c) {
#endif
  SHARED float memory[kShared];
  const int across = N_SIZE / kColumns, down = M_SIZE / kRows;
  const int batch = BLOCK / (across * down), number = BLOCK % (across * down);
  // Traverses BLOCK_MAPPING rows of blocks column by column, so that their B stays in the cache.
  const int group = BLOCK_MAPPING ? BLOCK_MAPPING : 1;
  const int top = number / (group * across) * group;
  const int height = down - top < group ? down - top : group;
  const int inside = number % (group * across);
  const int first_row = (top + inside % height) * kRows, first_column = inside / height * kColumns;
  a += (wide_t)batch * M_SIZE * K_SIZE + (wide_t)first_row * K_SIZE;
  b += (wide_t)batch * K_SIZE * N_SIZE + first_column;
  c += (wide_t)batch * M_SIZE * N_SIZE + (wide_t)first_row * N_SIZE + first_column;

  const int thread = THREAD % kBase, part = THREAD / kBase;
  const int warp = thread / kLanes, lane = thread % kLanes;
  const int row = warp / BLOCK_LAYOUT_X * WARP_LAYOUT_Y * THREAD_SIZE_M + FIRST_ROW(lane);
  const int column = warp % BLOCK_LAYOUT_X * WARP_LAYOUT_X * THREAD_SIZE_N + FIRST_COLUMN(lane);
  float sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = 0.0f;

  int buffer = 0;
  load_blocks(a, b, memory);
  BARRIER();
  for (int next = kDepth; next <= K_SIZE; next += kDepth) {
    // The other buffer was read before the last barrier.
    if (SHARED_PREFETCH && next < K_SIZE)
      load_blocks(a + next, b + (wide_t)next * N_SIZE, memory + (1 - buffer) * kTile);
    add_products(memory + buffer * kTile, row, column, part, sums);
    BARRIER();
    if (!SHARED_PREFETCH && next < K_SIZE) {
      load_blocks(a + next, b + (wide_t)next * N_SIZE, memory);
      BARRIER();
    }
    buffer = SHARED_PREFETCH ? 1 - buffer : 0;
  }

#if LOCAL_SPLIT_U > 1
  // The threads of the first part add the sums of the others, row by row.
  for (int i = 0; i < THREAD_SIZE_M; ++i) {
    for (int j = 0; part > 0 && j < THREAD_SIZE_N; ++j)
      memory[((part - 1) * kBase + thread) * THREAD_SIZE_N + j] = sums[i * THREAD_SIZE_N + j];
    BARRIER();
    for (int other = 0; part == 0 && other < LOCAL_SPLIT_U - 1; ++other)
      for (int j = 0; j < THREAD_SIZE_N; ++j)
        sums[i * THREAD_SIZE_N + j] += memory[(other * kBase + thread) * THREAD_SIZE_N + j];
    BARRIER();
  }
  if (part > 0) return;
#endif
  store_sums(c, row, column, sums);
}
