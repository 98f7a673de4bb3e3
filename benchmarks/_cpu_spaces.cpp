// Kernels of the recorded CPU spaces: tiles and orders are arguments, so that one build measures
// all configurations.
//
// Only the register blocks are template parameters. _record_spaces.py builds and times this file.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

// One register block of a matrix product: ROWS x (LANES * VECTORS) sums stay in registers for
// `depth` steps.
template <int ROWS, int LANES, int VECTORS>
void block(const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
           int64_t depth) {
  typedef float Vector __attribute__((vector_size(LANES * 4), aligned(4)));
  Vector sums[ROWS][VECTORS];
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < VECTORS; ++v)
      sums[r][v] = *reinterpret_cast<const Vector*>(c + r * ldc + v * LANES);
  for (int64_t k = 0; k < depth; ++k) {
    Vector right[VECTORS];
    for (int v = 0; v < VECTORS; ++v)
      right[v] = *reinterpret_cast<const Vector*>(b + k * ldb + v * LANES);
    for (int r = 0; r < ROWS; ++r)
      for (int v = 0; v < VECTORS; ++v) sums[r][v] += a[r * lda + k] * right[v];
  }
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < VECTORS; ++v)
      *reinterpret_cast<Vector*>(c + r * ldc + v * LANES) = sums[r][v];
}

using Block = void (*)(const float*, int64_t, const float*, int64_t, float*, int64_t, int64_t);

template <int ROWS>
Block block_of(int64_t lanes, int64_t vectors) {
  if (lanes == 4)
    return vectors == 1 ? block<ROWS, 4, 1> : vectors == 2 ? block<ROWS, 4, 2> : block<ROWS, 4, 4>;
  if (lanes == 8)
    return vectors == 1 ? block<ROWS, 8, 1> : vectors == 2 ? block<ROWS, 8, 2> : block<ROWS, 8, 4>;
  return vectors == 1 ? block<ROWS, 16, 1> : vectors == 2 ? block<ROWS, 16, 2> : block<ROWS, 16, 4>;
}

Block block_of(int64_t rows, int64_t lanes, int64_t vectors) {
  switch (rows) {
    case 1:
      return block_of<1>(lanes, vectors);
    case 2:
      return block_of<2>(lanes, vectors);
    case 4:
      return block_of<4>(lanes, vectors);
    case 6:
      return block_of<6>(lanes, vectors);
    default:
      return block_of<8>(lanes, vectors);
  }
}

template <int UNROLL>
void stencil_row(const float* from, float* to, int64_t count, int64_t row, int64_t plane) {
  int64_t i = 0;
  for (; i + UNROLL <= count; i += UNROLL)
#pragma GCC unroll 8
    for (int u = 0; u < UNROLL; ++u) {
      const float* p = from + i + u;
      to[i + u] = 0.4f * p[0] + 0.1f * (p[-1] + p[1] + p[-row] + p[row] + p[-plane] + p[plane]);
    }
  for (; i < count; ++i) {
    const float* p = from + i;
    to[i] = 0.4f * p[0] + 0.1f * (p[-1] + p[1] + p[-row] + p[row] + p[-plane] + p[plane]);
  }
}

template <int ROWS, int COLUMNS>
void transpose_block(const float* from, int64_t ldf, float* to, int64_t ldt) {
  float kept[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c) kept[r][c] = from[r * ldf + c];
  for (int c = 0; c < COLUMNS; ++c)
    for (int r = 0; r < ROWS; ++r) to[c * ldt + r] = kept[r][c];
}

using Transpose = void (*)(const float*, int64_t, float*, int64_t);

template <int ROWS>
Transpose transpose_of(int64_t columns) {
  switch (columns) {
    case 1:
      return transpose_block<ROWS, 1>;
    case 2:
      return transpose_block<ROWS, 2>;
    case 4:
      return transpose_block<ROWS, 4>;
    default:
      return transpose_block<ROWS, 8>;
  }
}

Transpose transpose_of(int64_t rows, int64_t columns) {
  switch (rows) {
    case 1:
      return transpose_of<1>(columns);
    case 2:
      return transpose_of<2>(columns);
    case 4:
      return transpose_of<4>(columns);
    default:
      return transpose_of<8>(columns);
  }
}

}  // namespace

extern "C" {

// c += a b, with three tiles, an order of the outer loops, and an optional packed copy of the right
// tile.
void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
            int64_t tile_m, int64_t tile_n, int64_t tile_k, int64_t rows, int64_t lanes,
            int64_t vectors, int64_t depth_first, int64_t pack) {
  const Block work = block_of(rows, lanes, vectors);
  const int64_t width = lanes * vectors;
  std::vector<float> packed(pack ? tile_n * tile_k : 0);
  const int64_t outer_step = depth_first ? tile_k : tile_n,
                inner_step = depth_first ? tile_n : tile_k;
  const int64_t outer_end = depth_first ? k : n, inner_end = depth_first ? n : k;
  for (int64_t outer = 0; outer < outer_end; outer += outer_step)
    for (int64_t inner = 0; inner < inner_end; inner += inner_step) {
      const int64_t n0 = depth_first ? inner : outer, k0 = depth_first ? outer : inner;
      const int64_t n1 = std::min(n0 + tile_n, n), k1 = std::min(k0 + tile_k, k);
      const float* right = b + k0 * n + n0;
      int64_t ldb = n;
      if (pack) {
        for (int64_t each = k0; each < k1; ++each)
          std::copy_n(b + each * n + n0, n1 - n0, packed.data() + (each - k0) * tile_n);
        right = packed.data();
        ldb = tile_n;
      }
      for (int64_t m0 = 0; m0 < m; m0 += tile_m)
        for (int64_t j = 0; j < n1 - n0; j += width)
          for (int64_t i = m0; i < std::min(m0 + tile_m, m); i += rows)
            work(a + i * k + k0, k, right + j, ldb, c + i * n + n0 + j, n, k1 - k0);
    }
}

// Seven-point stencil over z, y, x in tiles; rows of a tile in the order z-y or y-z.
void stencil(const float* from, float* to, int64_t nz, int64_t ny, int64_t nx, int64_t tile_z,
             int64_t tile_y, int64_t tile_x, int64_t unroll, int64_t y_first) {
  const auto row = unroll == 1   ? stencil_row<1>
                   : unroll == 2 ? stencil_row<2>
                   : unroll == 4 ? stencil_row<4>
                                 : stencil_row<8>;
  const int64_t plane = ny * nx;
  for (int64_t z0 = 1; z0 < nz - 1; z0 += tile_z)
    for (int64_t y0 = 1; y0 < ny - 1; y0 += tile_y)
      for (int64_t x0 = 1; x0 < nx - 1; x0 += tile_x) {
        const int64_t z1 = std::min(z0 + tile_z, nz - 1), y1 = std::min(y0 + tile_y, ny - 1);
        const int64_t count = std::min(x0 + tile_x, nx - 1) - x0;
        const int64_t outer0 = y_first ? y0 : z0, outer1 = y_first ? y1 : z1;
        const int64_t inner0 = y_first ? z0 : y0, inner1 = y_first ? z1 : y1;
        for (int64_t outer = outer0; outer < outer1; ++outer)
          for (int64_t inner = inner0; inner < inner1; ++inner) {
            const int64_t z = y_first ? inner : outer, y = y_first ? outer : inner;
            const int64_t at = z * plane + y * nx + x0;
            row(from + at, to + at, count, nx, plane);
          }
      }
}

// Transposed copy in tiles of register blocks; tiles by rows or by columns, blocks likewise.
void transpose(const float* from, float* to, int64_t rows, int64_t columns, int64_t tile_r,
               int64_t tile_c, int64_t block_r, int64_t block_c, int64_t by_columns,
               int64_t blocks_by_columns) {
  const Transpose work = transpose_of(block_r, block_c);
  const int64_t tiles_r = rows / tile_r, tiles_c = columns / tile_c;
  for (int64_t tile = 0; tile < tiles_r * tiles_c; ++tile) {
    const int64_t r0 = (by_columns ? tile % tiles_r : tile / tiles_c) * tile_r;
    const int64_t c0 = (by_columns ? tile / tiles_r : tile % tiles_c) * tile_c;
    if (blocks_by_columns) {
      for (int64_t c = c0; c < c0 + tile_c; c += block_c)
        for (int64_t r = r0; r < r0 + tile_r; r += block_r)
          work(from + r * columns + c, columns, to + c * rows + r, rows);
    } else {
      for (int64_t r = r0; r < r0 + tile_r; r += block_r)
        for (int64_t c = c0; c < c0 + tile_c; c += block_c)
          work(from + r * columns + c, columns, to + c * rows + r, rows);
    }
  }
}
}
