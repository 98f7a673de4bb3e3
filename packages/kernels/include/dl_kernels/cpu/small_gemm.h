// Products of matrices that are already in the caches: nothing is packed, operands are read in
// place.
#ifndef DL_KERNELS_CPU_SMALL_GEMM_H_
#define DL_KERNELS_CPU_SMALL_GEMM_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/gemm_tile.h"

DL_KERNELS_BEGIN

// Memory order of A: `rows` if the elements of a row are adjacent, else `columns`.
enum class Order { rows, columns };

template <class C>
struct SmallGemm {
  static constexpr int kLanes = detail::GemmTile<C>::kLanes;
  static constexpr int kColumns = detail::GemmTile<C>::kColumns;
  static constexpr int kRows = detail::kTileRows < 12 ? detail::kTileRows : 12;
  using Vector = typename detail::GemmTile<C>::Vector;

  // c = a · b, or c += a · b with `add`. b and c have a multiple of kColumns adjacent columns.
  template <Order order>
  static void multiply(int64_t m, int64_t n, int64_t k, const C* a, int64_t a_step, const C* b,
                       int64_t b_row, C* c, int64_t c_row, bool add) {
    for (int64_t j = 0; j < n; j += kColumns) {
      for (int64_t i = 0; i < m; i += kRows) {
        const C* left = a + (order == Order::rows ? i * a_step : i);
        C* to = c + i * c_row + j;
        const int64_t rows = m - i < kRows ? m - i : kRows;
        dispatch<order, kRows>(rows, k, left, a_step, b + j, b_row, to, c_row, add);
      }
    }
  }

 private:
  template <Order order, int rows>
  static void dispatch(int64_t wanted, int64_t k, const C* a, int64_t a_step, const C* b,
                       int64_t b_row, C* c, int64_t c_row, bool add) {
    if constexpr (rows > 1) {
      if (wanted < rows) {
        dispatch<order, rows - 1>(wanted, k, a, a_step, b, b_row, c, c_row, add);
        return;
      }
    }
    tile<order, rows>(k, a, a_step, b, b_row, c, c_row, add);
  }

  template <Order order, int rows>
  __attribute__((noinline)) static void tile(int64_t depth, const C* a, int64_t a_step, const C* b,
                                             int64_t b_row, C* c, int64_t c_row, bool add) {
    Vector left[rows] = {}, right[rows] = {};
    const C* line[rows];
    DL_UNROLL
    for (int i = 0; i < rows; ++i) line[i] = order == Order::rows ? a + i * a_step : a + i;
    for (int64_t k = 0; k < depth; ++k) {
      const Vector b0 = *reinterpret_cast<const Vector*>(b);
      const Vector b1 = *reinterpret_cast<const Vector*>(b + kLanes);
      DL_UNROLL
      for (int i = 0; i < rows; ++i) {
        const C factor = order == Order::rows ? line[i][k] : a[i];
        left[i] += factor * b0;
        right[i] += factor * b1;
      }
      if (order == Order::columns) a += a_step;
      b += b_row;
    }
    DL_UNROLL
    for (int i = 0; i < rows; ++i) {
      Vector* to = reinterpret_cast<Vector*>(c + i * c_row);
      Vector* next = reinterpret_cast<Vector*>(c + i * c_row + kLanes);
      *to = add ? *to + left[i] : left[i];
      *next = add ? *next + right[i] : right[i];
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SMALL_GEMM_H_
