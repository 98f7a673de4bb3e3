// LU factorization with partial pivoting, with the results of LAPACK's getrf: the first of equal
// candidates is the pivot, and complex magnitudes are measured by |re| + |im|.
#ifndef DL_KERNELS_MATRIX_LU_H_
#define DL_KERNELS_MATRIX_LU_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/matrix/multiply.h"
#include "dl_kernels/matrix/triangular_solve.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Columns per panel: eliminated before the rest of the matrix is updated.
inline constexpr int64_t kEliminatedColumns = 32;

struct LuShape {
  int64_t batch, rows, columns;
  DL_FN int64_t pivots() const { return rows < columns ? rows : columns; }
};

template <class T>
DL_FN real_t<T> pivot_size(T x) {
  return std::fabs(real_part(x)) + std::fabs(imaginary_part(x));
}

template <class R>
struct LargerSize {
  DL_FN R operator()(R a, R b) const { return max_nan(a, b); }
};
struct Earlier {
  DL_FN int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

// Find the pivot of column j and swap its row up.
template <class T>
struct LuPivotRow {
  T* matrices;
  int32_t* pivots;
  int32_t* info;
  LuShape shape;
  int64_t j;

  DL_FN void operator()(const Block& block, int64_t matrix) const {
    using R = real_t<T>;
    const int64_t n = shape.columns, count = shape.rows - j;
    T* const row = matrices + (matrix * shape.rows + j) * n;
    const T* const column = row + j;
    const R largest = block.reduce(count, R(0), LargerSize<R>{},
                                   [=](int64_t i) { return pivot_size(column[i * n]); });
    const int64_t found = block.reduce(count, count, Earlier{}, [=](int64_t i) {
      const R size = pivot_size(column[i * n]);
      return size == largest || is_nan(size) ? i : count;
    });
    T* const other = row + found * n;
    block.map(1, [=](int64_t) {
      pivots[matrix * shape.pivots() + j] = static_cast<int32_t>(j + found + 1);
      if (largest == R(0) && info[matrix] == 0) info[matrix] = static_cast<int32_t>(j + 1);
    });
    if (found == 0) return;
    block.map(n, [=](int64_t k) {
      const T kept = row[k];
      row[k] = other[k];
      other[k] = kept;
    });
  }
};

// Eliminate column j from a row below it, up to column `end`. If a column has no pivot, its
// multipliers are 0.
template <class T>
struct EliminateItem {
  T* matrices;
  int64_t rows, columns, j, end;

  DL_FN void operator()(int64_t item) const {
    const int64_t below = rows - j - 1;
    const T* const top = matrices + (item / below * rows + j) * columns;
    T* const row = matrices + (item / below * rows + j + 1 + item % below) * columns;
    if (pivot_size(top[j]) == real_t<T>(0)) return;
    const T factor = row[j] / top[j];
    row[j] = factor;
    DL_VECTOR_LOOP
    for (int64_t k = j + 1; k < end; ++k) row[k] = row[k] - factor * top[k];
  }
};

// Factor columns `first` to `end` of a matrix with one worker.
template <class T>
struct LuPanelItem {
  T* matrices;
  int32_t* pivots;
  int32_t* info;
  LuShape shape;
  int64_t first, end;

  DL_FN void operator()(int64_t matrix) const {
    using R = real_t<T>;
    const int64_t m = shape.rows, n = shape.columns;
    T* const a = matrices + matrix * m * n;
    for (int64_t j = first; j < end; ++j) {
      int64_t found = j;
      R largest = pivot_size(a[j * n + j]);
      for (int64_t i = j + 1; i < m && !is_nan(largest); ++i) {
        const R size = pivot_size(a[i * n + j]);
        if (size > largest || is_nan(size)) {
          largest = size;
          found = i;
        }
      }
      pivots[matrix * shape.pivots() + j] = static_cast<int32_t>(found + 1);
      if (largest == R(0) && info[matrix] == 0) info[matrix] = static_cast<int32_t>(j + 1);
      for (int64_t k = 0; found != j && k < n; ++k) {
        const T kept = a[j * n + k];
        a[j * n + k] = a[found * n + k];
        a[found * n + k] = kept;
      }
      const EliminateItem<T> eliminate{matrices, m, n, j, end};
      const int64_t below = m - j - 1;
      for (int64_t i = 0; i < below; ++i) eliminate(matrix * below + i);
    }
  }
};

// Largest matrix whose panels one worker factors.
inline constexpr int64_t kSmallMatrix = 64 * 64;

// Overwrite matrices [m, n] by L below the diagonal and U on and above it. `info`, initially 0,
// receives the 1-based index of the first zero pivot.
template <class T>
void factor_lu(const Launch& launch, const LuShape& shape, T* a, int32_t* pivots, int32_t* info) {
  const int64_t m = shape.rows, n = shape.columns, count = shape.pivots(), step = m * n;
  for (int64_t first = 0; first < count; first += kEliminatedColumns) {
    const int64_t end = first + kEliminatedColumns < count ? first + kEliminatedColumns : count;
    if (step <= kSmallMatrix && (!DL_KERNELS_GPU || shape.batch >= kManyMatrices)) {
      each(launch, shape.batch, (m - first) * (end - first) * (end - first),
           LuPanelItem<T>{a, pivots, info, shape, first, end});
    } else {
      for (int64_t j = first; j < end; ++j) {
        rows(launch, shape.batch, 3 * (m - j) + n, LuPivotRow<T>{a, pivots, info, shape, j});
        each(launch, shape.batch * (m - j - 1), 2 * (end - j), EliminateItem<T>{a, m, n, j, end});
      }
    }
    if (end == n) break;
    const Operand<T> all{{a, n, 1}, step, false};
    solve_triangular<T>(launch, shape.batch, {all.at(first, first), true, true}, end - first,
                        Matrix<T>{a + first * n + end, n, 1}, step, n - end);
    multiply_batch<T>(launch, shape.batch, m - end, n - end, end - first, real_t<T>(-1),
                      all.at(end, first), all.at(first, end), real_t<T>(1),
                      Matrix<T>{a + end * n + end, n, 1}, step);
  }
}

struct NoPivot {
  const int32_t* info;

  DL_FN bool operator()(int64_t i) const { return info[i] != 0; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "matrix {position} is singular: its pivot {value} is 0");
    error.value = info[i];
    error.position = i;
  }
};

struct NoSuchRow {
  const int32_t* pivots;
  int64_t rows;

  DL_FN bool operator()(int64_t i) const { return pivots[i] < 1 || pivots[i] > rows; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "pivot {value} at {position} is not the number of a row");
    error.value = pivots[i];
    error.position = i;
  }
};

// The permutation that results from a sequence of row exchanges: each step exchanges the next row
// with the row that its pivot names.
struct PermutationItem {
  int64_t* to;
  const int32_t* pivots;
  int64_t rows, count;

  DL_FN void operator()(int64_t matrix) const {
    int64_t* const order = to + matrix * rows;
    for (int64_t i = 0; i < rows; ++i) order[i] = i;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t other = pivots[matrix * count + i] - 1;
      // The check has reported invalid pivots, but on a GPU it does not stop this kernel.
      if (other < 0 || other >= rows) continue;
      const int64_t kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_LU_H_
