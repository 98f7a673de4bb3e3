// CPU matrix product (GEMM): operands are packed into panels that fit the caches, so strides cost
// nothing in the inner loop, and half precision is multiplied in float. The blocking follows Goto
// and van de Geijn, Anatomy of high-performance matrix multiplication (2008).
#ifndef DL_KERNELS_CPU_GEMM_H_
#define DL_KERNELS_CPU_GEMM_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/gather.h"
#include "dl_kernels/cpu/gemm_tile.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/skinny_gemm.h"
#include "dl_kernels/cpu/transpose.h"
#include "dl_kernels/matrix/matrix.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kDepth =
    256;  // depth of a pair of panels, which stays in the first-level cache

// Compute one row of C by dot products: for vectors, and where packing costs more than it saves.
template <class T, class O, class C>
void gemm_dots(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
               Matrix<const T> b, C beta, Matrix<O> c) {
  launch.parallel_for(m * n, product_grain(k), [&](int64_t begin, int64_t end) {
    const Block block;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t i = item / n, j = item % n;
      const T* x = a.data + i * a.row;
      const T* y = b.data + j * b.column;
      const int64_t p = a.column, q = b.row;
      const C total =
          p == 1 && q == 1
              ? block.sum(k, [=](int64_t l) { return cast<C>(x[l]) * cast<C>(y[l]); })
              : block.sum(k, [=](int64_t l) { return cast<C>(x[l * p]) * cast<C>(y[l * q]); });
      blend(c.data + i * c.row + j * c.column, total, alpha, beta);
    }
  });
}

// to[j] += Σ factors[u] · from[u][j] for j < count.
template <int64_t lines, class C, class T>
void add_lines(C* to, const T* const* from, const C* factors, int64_t count) {
  DL_VECTOR_LOOP
  for (int64_t j = 0; j < count; ++j) {
    C sum = to[j];
    DL_UNROLL
    for (int64_t u = 0; u < lines; ++u) sum += factors[u] * cast<C>(from[u][j]);
    to[j] = sum;
  }
}

// acc[i][j] += Σ a[i][l] · b[l][j], a few l at a time: m × count sums in rows of stride `width`.
template <class A, class T, class C>
void add_products(int64_t m, int64_t count, int64_t k, Matrix<const A> a, const T* b, int64_t step,
                  C* acc, int64_t width) {
  constexpr int64_t kAtOnce = 8, kWidest = 256;
  const auto add = [&](int64_t l, int64_t lines, const auto* const* from) {
    for (int64_t i = 0; i < m; ++i) {
      C factors[kAtOnce];
      for (int64_t u = 0; u < lines; ++u)
        factors[u] = cast<C>(a.data[i * a.row + (l + u) * a.column]);
      for (int64_t u = 0; lines < kAtOnce && u < lines; ++u)
        add_lines<1>(acc + i * width, from + u, factors + u, count);
      if (lines == kAtOnce) add_lines<kAtOnce>(acc + i * width, from, factors, count);
    }
  };
  for (int64_t l = 0; l < k; l += kAtOnce) {
    const int64_t lines = k - l < kAtOnce ? k - l : kAtOnce;
    const T* from[kAtOnce];
    for (int64_t u = 0; u < lines; ++u) from[u] = b + (l + u) * step;
    if (std::is_same_v<T, C> || count > kWidest) {
      add(l, lines, from);
      continue;
    }
    // Convert once for all rows.
    alignas(64) C wide[kAtOnce * kWidest];
    const C* widened[kAtOnce];
    for (int64_t u = 0; u < lines; ++u) {
      load_dense(wide + u * kWidest, from[u], count);
      widened[u] = wide + u * kWidest;
    }
    add(l, lines, widened);
  }
}

// gemm_rows transposes lines up to this length, for which dot products have too much overhead.
template <class C>
inline constexpr int64_t kShortLine = GemmTile<C>::kLanes;

// Compute up to kMostVectors rows of C if the rows of B are dense, or its columns are dense and
// short. Multiples of B's rows are accumulated in the compute type, a few at a time, up to kDepth.
template <class T, class O, class C>
void gemm_rows(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
               Matrix<const T> b, C beta, Matrix<O> c) {
  constexpr int64_t kSums = 4096, kShortWidth = 128;
  static_assert(kMostVectors <= 16);
  using Wide = std::conditional_t<std::is_floating_point_v<C>, double, C>;
  const bool dense = b.column == 1;
  // For one row, long pieces are read; for several, the pieces stay in the first-level cache.
  const int64_t widest = !dense ? kShortWidth : kSums / (m == 1 ? 4 : 16);
  const int64_t threads = launch.threads(), rounds = (n - 1) / (widest * threads) + 1;
  // Equal widths for all threads, in whole registers.
  const int64_t share = (n - 1) / (rounds * threads) + 1;
  const int64_t width = std::min(widest, (share + 15) / 16 * 16);
  const int64_t strips = (n + width - 1) / width;
  launch.parallel_for(strips, product_grain(m * k * width), [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t first = strip * width, count = n - first < width ? n - first : width;
      alignas(64) C acc[kSums];
      alignas(64) Wide total[kSums];
      alignas(64) T tile[kShortLine<C> * kShortWidth];
      const T* right = b.data + first * b.column;
      if (!dense) {
        transpose_tile(sizeof(T), tile, kShortWidth, right, b.column, k, count);
        right = tile;
      }
      const int64_t step = dense ? b.row : kShortWidth;
      for (int64_t i = 0; i < m * width; ++i) acc[i] = total[i] = 0;
      for (int64_t begin = 0; begin < k; begin += kDepth) {
        const int64_t end = begin + kDepth < k ? begin + kDepth : k;
        const Matrix<const T> left{a.data + begin * a.column, a.row, a.column};
        add_products(m, count, end - begin, left, right + begin * step, step, acc, width);
        if (k <= kDepth) break;
        for (int64_t i = 0; i < m * width; ++i) {
          total[i] += static_cast<Wide>(acc[i]);
          acc[i] = 0;
        }
      }
      for (int64_t i = 0; k > kDepth && i < m * width; ++i) acc[i] = static_cast<C>(total[i]);
      write_tile(c.data + first * c.column, c.row, c.column, m, count, acc, width, alpha, beta);
    }
  });
}

// Compute few columns of C if the rows of A are dense; return true if done.
template <class T, class O, class C>
bool gemm_columns(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
                  Matrix<const T> b, C beta, Matrix<O> c) {
  if (a.column != 1 || n > kMostVectors) return false;
  if (SkinnyGemm<T, O, C>::takes(m, k)) {
    SkinnyGemm<T, O, C>{launch, n, m, k, alpha, b.transposed(), a.data, a.row, beta, c.transposed()}
        .run();
    return true;
  }
  if (n > 2 || k < 2 || k > kShortLine<C> || m < 16) return false;
  gemm_rows<T, O, C>(launch, n, m, k, alpha, b.transposed(), a.transposed(), beta, c.transposed());
  return true;
}

// An operand of gemm_blocked: its lines are the rows of A or the columns of B.
template <class T>
struct Lines {
  const T* data;
  int64_t line, step;

  // Pack `count` lines beginning with `first`, elements [k0, k0 + depth), into panels of `height`.
  template <int height, class C>
  void pack(C* to, int64_t first, int64_t count, int64_t k0, int64_t depth) const {
    const T* from = data + first * line + k0 * step;
    for (int64_t i = 0; i < count; i += height) {
      const int64_t rest = count - i < height ? count - i : height;
      pack_panel<height>(to + i * depth, from + i * line, line, step, rest, depth);
    }
  }
};

// Output of gemm_blocked: c = alpha · tile + beta · c for a tile at (i, j).
template <class O>
struct MatrixTarget {
  Matrix<O> c;

  template <class C>
  void write(int64_t i, int64_t j, int64_t rows, int64_t columns, const C* tile, int64_t tile_row,
             C alpha, C beta) const {
    write_tile(c.data + i * c.row + j * c.column, c.row, c.column, rows, columns, tile, tile_row,
               alpha, beta);
  }
};

// Division of a result among threads: `bands` of rows by `strips` of columns, equal in size except
// the last.
struct Pieces {
  struct Size {
    int64_t rows, columns;
  };

  // Pieces of at most `largest` elements, made of whole tiles.
  Pieces(int64_t m, int64_t n, Size largest, Size tile, int64_t threads) {
    // Each piece of a band packs its rows of A again, which does not pay off for few tiles.
    constexpr int64_t kFewest = 4;
    bands = parts(m, largest.rows);
    strips = parts(n, largest.columns);
    if (threads > 1 && bands % threads != 0) {
      const int64_t most_strips = std::max(strips, n / (kFewest * tile.columns));
      strips = std::min(parts(strips, threads) * threads, most_strips);
      if (strips % threads != 0) {
        const int64_t most_bands = std::max<int64_t>(1, m / (kFewest * tile.rows));
        bands = std::min(parts(bands, threads) * threads, std::max(bands, most_bands));
      }
    }
    height = parts(parts(m, bands), tile.rows) * tile.rows;
    width = parts(parts(n, strips), tile.columns) * tile.columns;
    bands = parts(m, height);
    strips = parts(n, width);
  }

  int64_t height, width, bands, strips;

 private:
  static int64_t parts(int64_t size, int64_t part) {
    return std::max<int64_t>(1, (size + part - 1) / part);
  }
};

// The product of two operands that pack themselves. Partial sums over the depth are kept in `sums`
// if the target type is not accurate enough for them.
template <class O, class C, class Left, class Right, class Target>
void gemm_blocked(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, const Left& left,
                  const Right& right, C beta, const Target& target) {
  using Tile = GemmTile<C>;
  constexpr int kRows = Tile::kRows, kColumns = Tile::kColumns;
  // A block of A should fill about half of a 512 KiB second-level cache.
  constexpr int64_t kHeight = (262144 / (kDepth * static_cast<int64_t>(sizeof(C)))) / kRows * kRows;
  constexpr int64_t kWidth = 2048 / kColumns * kColumns;
  const bool direct = !kIsHalf<O> || k <= kDepth;
  const Workspace<C> sums(launch, direct ? 0 : m * n);
  const int64_t depth = k < kDepth ? k : kDepth;
  const int64_t panels = (n + kColumns - 1) / kColumns;
  const Workspace<C> packed_b(launch, panels * kColumns * depth);
  const Pieces pieces(m, n, {kHeight, kWidth}, {kRows, kColumns}, launch.threads());
  const auto [height, width, bands, strips] = pieces;

  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t slice = k - k0 < kDepth ? k - k0 : kDepth;
    const bool first = k0 == 0, last = k0 + slice == k;
    launch.parallel_for(panels, grain_for(slice * kColumns), [&](int64_t begin, int64_t end) {
      const int64_t j = begin * kColumns;
      const int64_t count = (end * kColumns < n ? end * kColumns : n) - j;
      right.template pack<kColumns>(packed_b.data() + j * slice, j, count, k0, slice);
    });
    launch.parallel_for(
        bands * strips, grain_for(height * slice * width / 16), [&](int64_t begin, int64_t end) {
          const Workspace<C> packed_a(launch, height * slice);
          alignas(64) C acc[kRows * kColumns];
          int64_t packed_band = -1;
          for (int64_t item = begin; item < end; ++item) {
            const int64_t band = item / strips, i0 = band * height;
            const int64_t rows = m - i0 < height ? m - i0 : height;
            if (band != packed_band) {
              left.template pack<kRows>(packed_a.data(), i0, rows, k0, slice);
              packed_band = band;
            }
            const int64_t j0 = item % strips * width, j1 = j0 + width < n ? j0 + width : n;
            for (int64_t j = j0; j < j1; j += kColumns) {
              const int64_t columns = n - j < kColumns ? n - j : kColumns;
              for (int64_t i = 0; i < rows; i += kRows) {
                Tile::multiply(slice, packed_a.data() + i * slice, packed_b.data() + j * slice,
                               acc);
                const int64_t height_left = rows - i < kRows ? rows - i : kRows;
                if (direct) {
                  target.write(i0 + i, j, height_left, columns, acc, int64_t(kColumns), alpha,
                               first ? beta : C(1));
                  continue;
                }
                C* sum = sums.data() + (i0 + i) * n + j;
                write_tile(sum, n, int64_t(1), height_left, columns, acc, int64_t(kColumns), C(1),
                           first ? C(0) : C(1));
                if (last) target.write(i0 + i, j, height_left, columns, sum, n, alpha, beta);
              }
            }
          }
        });
  }
}

}  // namespace detail

// C must not overlap A or B. k may be 0. A and B have the element type T, and C has the type O.
template <class T, class O = T, class C = compute_t<T>>
void gemm(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const T> a,
          Matrix<const T> b, C beta, Matrix<O> c) {
  if (m == 0 || n == 0) return;
  if (c.column != 1 && c.row == 1) {
    // The transposed product writes along rows.
    gemm<T, O, C>(launch, n, m, k, alpha, b.transposed(), a.transposed(), beta, c.transposed());
    return;
  }
  const bool dense_dots = (a.column == 1 || k == 1) && (b.row == 1 || k == 1);
  if (detail::gemm_columns<T, O, C>(launch, m, n, k, alpha, a, b, beta, c) ||
      detail::gemm_columns<T, O, C>(launch, n, m, k, alpha, b.transposed(), a.transposed(), beta,
                                    c.transposed())) {
    return;
  }
  if (k == 0 || (dense_dots && (m < 3 || n < 3)) || m * n * k < 512) {
    detail::gemm_dots<T, O, C>(launch, m, n, k, alpha, a, b, beta, c);
  } else if (m <= detail::kMostVectors && b.column == 1) {
    detail::gemm_rows<T, O, C>(launch, m, n, k, alpha, a, b, beta, c);
  } else if (n <= detail::kMostVectors && a.row == 1) {
    detail::gemm_rows<T, O, C>(launch, n, m, k, alpha, b.transposed(), a.transposed(), beta,
                               c.transposed());
  } else {
    // The general case.
    detail::gemm_blocked<O, C>(launch, m, n, k, alpha, detail::Lines<T>{a.data, a.row, a.column},
                               detail::Lines<T>{b.data, b.column, b.row}, beta,
                               detail::MatrixTarget<O>{c});
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_GEMM_H_
