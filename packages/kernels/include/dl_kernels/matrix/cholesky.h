// Cholesky factorization of batches of matrices, and its gradient.
#ifndef DL_KERNELS_MATRIX_CHOLESKY_H_
#define DL_KERNELS_MATRIX_CHOLESKY_H_

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

// Columns per panel: factored before the rest of the matrix is updated.
inline constexpr int64_t kFactoredColumns = 32;
// Columns of the rest that one product updates, from the diagonal down.
inline constexpr int64_t kUpdatedColumns = 256;

// Copy a row of a triangle to the lower triangle, with 0 above the diagonal; an upper triangle is
// conjugated.
template <class T>
struct LowerTriangleRow {
  T* to;
  const T* from;
  int64_t n;
  bool upper;

  DL_FN void operator()(const Block& block, int64_t item) const {
    const int64_t i = item % n, size = n;
    T* const y = to + item * n;
    const T* const x = upper ? from + (item - i) * n + i : from + item * n;
    if (upper) {
      block.map(i + 1, [=](int64_t j) { y[j] = conjugate(x[j * size]); });
    } else {
      block.map(i + 1, [=](int64_t j) { y[j] = x[j]; });
    }
    block.map_part(i + 1, size, [=](int64_t j) { y[j] = T{}; });
  }
};

// Copy a row of the lower triangle, or of the upper one if `upper`, with 0 in the other triangle.
template <class T>
struct PutFactorRow {
  T* to;
  const T* from;
  int64_t n;
  bool upper;

  DL_FN void operator()(const Block& block, int64_t item) const {
    const int64_t i = item % n, size = n;
    T* const y = to + item * n;
    const T* const x = upper ? from + (item - i) * n + i : from + item * n;
    if (upper) {
      block.map(i, [=](int64_t j) { y[j] = T{}; });
      block.map_part(i, size, [=](int64_t j) { y[j] = conjugate(x[j * size]); });
    } else {
      block.map(i + 1, [=](int64_t j) { y[j] = x[j]; });
      block.map_part(i + 1, size, [=](int64_t j) { y[j] = T{}; });
    }
  }
};

// Dot product of row i and the conjugate of row j, over `count` columns from `first` on.
template <class T>
DL_FN T row_product(const T* matrix, int64_t n, int64_t i, int64_t j, int64_t first,
                    int64_t count) {
  const T *a = matrix + i * n + first, *b = matrix + j * n + first;
  constexpr int kLanes = 8;
  T lanes[kLanes] = {};
  int64_t l = 0;
  for (; l + kLanes <= count; l += kLanes) {
    DL_VECTOR_LOOP
    for (int k = 0; k < kLanes; ++k) lanes[k] = lanes[k] + a[l + k] * conjugate(b[l + k]);
  }
  for (; l < count; ++l) lanes[0] = lanes[0] + a[l] * conjugate(b[l]);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) lanes[k] = lanes[k] + lanes[k + width];
  }
  return lanes[0];
}

// Compute the diagonal element of column j, in a panel of columns that begins at `first`.
template <class T>
struct PivotItem {
  T* matrices;
  int32_t* info;
  int64_t n, first, j;

  DL_FN void operator()(int64_t matrix) const {
    T* const a = matrices + matrix * n * n;
    const real_t<T> square =
        real_part(a[j * n + j]) - real_part(row_product(a, n, j, j, first, j - first));
    // NaN is not positive.
    if (!(square > 0) && info[matrix] == 0) info[matrix] = static_cast<int32_t>(j + 1);
    a[j * n + j] = cast<T>(std::sqrt(square));
  }
};

// Compute the elements below the diagonal, up to row `end`.
template <class T>
struct ColumnItem {
  T* matrices;
  int64_t n, first, end, j;

  DL_FN void operator()(int64_t item) const {
    const int64_t rows = end - j - 1, i = j + 1 + item % rows;
    T* const a = matrices + item / rows * n * n;
    a[i * n + j] =
        (a[i * n + j] - row_product(a, n, i, j, first, j - first)) / real_part(a[j * n + j]);
  }
};

// Factor the columns and rows up to `end` with one worker. It computes the adjoint of the factor,
// row by row, since rows are contiguous.
template <class T>
struct BlockItem {
  T* matrices;
  int32_t* info;
  int64_t n, first, end;

  DL_FN void operator()(int64_t matrix) const {
    using R = real_t<T>;
    T* const a = matrices + (matrix * n + first) * n + first;
    const int64_t size = end - first;
    T upper[kFactoredColumns * kFactoredColumns];
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j <= i; ++j) upper[j * kFactoredColumns + i] = conjugate(a[i * n + j]);
    }
    for (int64_t j = 0; j < size; ++j) {
      T* const row = upper + j * kFactoredColumns;
      const R square = real_part(row[j]);
      // NaN is not positive.
      if (!(square > 0) && info[matrix] == 0) info[matrix] = static_cast<int32_t>(first + j + 1);
      const R pivot = std::sqrt(square);
      row[j] = cast<T>(pivot);
      for (int64_t k = j + 1; k < size; ++k) row[k] = row[k] / pivot;
      for (int64_t i = j + 1; i < size; ++i) {
        const T factor = conjugate(row[i]);
        T* const rest = upper + i * kFactoredColumns;
        DL_VECTOR_LOOP
        for (int64_t k = i; k < size; ++k) rest[k] = rest[k] - factor * row[k];
      }
    }
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j <= i; ++j) a[i * n + j] = conjugate(upper[j * kFactoredColumns + i]);
    }
  }
};

// Overwrite the lower triangles by the factors. `info`, initially 0, receives the order of the
// first leading minor that is not positive.
template <class T>
void factor_cholesky(const Launch& launch, int64_t batch, int64_t n, T* a, int32_t* info) {
  for (int64_t first = 0; first < n; first += kFactoredColumns) {
    const int64_t end = first + kFactoredColumns < n ? first + kFactoredColumns : n;
    if (!DL_KERNELS_GPU || batch >= kManyMatrices) {
      const int64_t size = end - first;
      each(launch, batch, size * size * size / 3, BlockItem<T>{a, info, n, first, end});
    } else {
      for (int64_t j = first; j < end; ++j) {
        each(launch, batch, j - first + 8, PivotItem<T>{a, info, n, first, j});
        each(launch, batch * (end - j - 1), j - first + 8, ColumnItem<T>{a, n, first, end, j});
      }
    }
    if (end == n) break;
    // The block below the panel is the solution of a triangular system, with each of its rows as a
    // right-hand side.
    const Operand<T> all{{a, n, 1}, n * n, false};
    Operand<T> known = all.at(first, first);
    known.conjugated = true;
    solve_triangular<T>(launch, batch, {known, true, false}, end - first,
                        Matrix<T>{a + end * n + first, 1, n}, n * n, n - end);
    for (int64_t at = end; at < n; at += kUpdatedColumns) {
      const int64_t columns = n - at < kUpdatedColumns ? n - at : kUpdatedColumns;
      const Operand<T> rows = all.at(at, first);
      multiply_batch<T>(launch, batch, n - at, columns, end - first, real_t<T>(-1), rows,
                        rows.adjoint(), real_t<T>(1), Matrix<T>{a + at * n + at, n, 1}, n * n);
    }
  }
}

struct NoFactor {
  const int32_t* info;

  DL_FN bool operator()(int64_t i) const { return info[i] != 0; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "matrix {position} has no factor: its leading minor of order {value} is not "
                "positive");
    error.value = info[i];
    error.position = i;
  }
};

// Halve lower triangles and mirror them: the result is Hermitian.
template <class T>
struct MirrorHalfItem {
  T* to;
  const T* from;
  int64_t n;

  DL_FN void operator()(int64_t item) const {
    using R = real_t<T>;
    const int64_t i = item / n % n, j = item % n, matrix = item / n / n * n * n;
    const T value = i >= j ? from[item] : conjugate(from[matrix + j * n + i]);
    to[item] = R(0.5) * (i == j ? cast<T>(real_part(value)) : value);
  }
};

// The mean of a matrix and its adjoint: restores the symmetry that rounding errors destroyed.
template <class T>
struct HermitianItem {
  T* a;
  int64_t n;

  DL_FN void operator()(int64_t item) const {
    const int64_t i = item / n % n, j = item % n, matrix = item / n / n * n * n;
    if (j > i) return;
    T &below = a[item], &above = a[matrix + j * n + i];
    const T mean = real_t<T>(0.5) * (below + conjugate(above));
    below = mean;
    above = conjugate(mean);
  }
};

// grad = L⁻ᴴ · (half of the lower triangle of Lᴴ · g, mirrored) · L⁻¹ (Murray, Differentiation of
// the Cholesky decomposition, 2016). `factor` and `g` are lower triangles with 0 above the
// diagonal.
template <class T>
void cholesky_gradient(const Launch& launch, int64_t batch, int64_t n, T* grad, const T* factor,
                       const T* g) {
  const Workspace<T> products(launch, batch * n * n);
  const Operand<T> lower{{factor, n, 1}, n * n, false}, right{{g, n, 1}, n * n, false};
  multiply_batch<T>(launch, batch, n, n, n, real_t<T>(1), lower.adjoint(), right, real_t<T>(0),
                    Matrix<T>{products.data(), n, 1}, n * n);
  each(launch, batch * n * n, 4, MirrorHalfItem<T>{grad, products.data(), n});
  solve_triangular<T>(launch, batch, {lower.adjoint(), false, false}, n, Matrix<T>{grad, n, 1},
                      n * n, n);
  solve_triangular<T>(launch, batch, {lower.transposed(), false, false}, n, Matrix<T>{grad, 1, n},
                      n * n, n);
  each(launch, batch * n * n, 4, HermitianItem<T>{grad, n});
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_CHOLESKY_H_
