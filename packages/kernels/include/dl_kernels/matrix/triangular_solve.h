// Systems of linear equations with triangular matrices: substitution in blocks of rows, followed by
// matrix products that update the remaining rows.
#ifndef DL_KERNELS_MATRIX_TRIANGULAR_SOLVE_H_
#define DL_KERNELS_MATRIX_TRIANGULAR_SOLVE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/matrix/multiply.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Rows per block of substitution.
inline constexpr int64_t kSolvedRows = 32;
// Right-hand sides per item: vector lanes of a core, or one per GPU thread.
inline constexpr int kSolvedColumns = DL_KERNELS_GPU ? 1 : 16;

// Number of matrices that keep a GPU busy with one thread each.
inline constexpr int64_t kManyMatrices = 128;

// Triangles of square matrices; the other elements are not read.
template <class T>
struct Triangle {
  Operand<T> matrices;
  bool lower;
  bool unit;  // unit diagonal, which is not read
};

// Substitution for some columns of one matrix of the batch.
template <class T>
struct SubstituteItem {
  Triangle<T> triangle;
  int64_t n;
  Matrix<T> x;  // right-hand sides, overwritten by the solutions
  int64_t step, columns, groups;

  DL_FN void operator()(int64_t item) const {
    const int64_t matrix = item / groups, first = item % groups * kSolvedColumns;
    const int64_t left = columns - first;
    const int count = left < kSolvedColumns ? static_cast<int>(left) : kSolvedColumns;
    T* const to = x.data + matrix * step + first * x.column;
    const Operand<T> from = triangle.matrices.in_batch(matrix);
    if (kSolvedColumns == 1 || x.column == 1) {
      solve(from, to, x.row, count);
      return;
    }
    // Lines with strides are gathered into a tile.
    T tile[kSolvedRows * kSolvedColumns];
    for (int64_t i = 0; i < n; ++i) {
      for (int c = 0; c < count; ++c) tile[i * kSolvedColumns + c] = to[i * x.row + c * x.column];
    }
    solve(from, tile, kSolvedColumns, count);
    for (int c = 0; c < count; ++c) {
      for (int64_t i = 0; i < n; ++i) to[i * x.row + c * x.column] = tile[i * kSolvedColumns + c];
    }
  }

  // Row i of the right-hand sides is at `to + i * row`.
  DL_FN void solve(const Operand<T>& from, T* to, int64_t row, int count) const {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = triangle.lower ? k : n - 1 - k;
      const int64_t begin = triangle.lower ? 0 : i + 1, end = triangle.lower ? i : n;
      T rest[kSolvedColumns];
      for (int c = 0; c < count; ++c) rest[c] = to[i * row + c];
      for (int64_t l = begin; l < end; ++l) {
        const T factor = from.element(i, l);
        const T* const known = to + l * row;
        DL_VECTOR_LOOP
        for (int c = 0; c < count; ++c) rest[c] = rest[c] - factor * known[c];
      }
      const T pivot = triangle.unit ? T{} : from.element(i, i);
      for (int c = 0; c < count; ++c) to[i * row + c] = triangle.unit ? rest[c] : rest[c] / pivot;
    }
  }
};

// Overwrite x by the solution of triangle · solution = x, with n rows and `columns` columns, for
// every matrix of a batch; the matrices of x have the stride `step`.
template <class T>
void solve_triangular(const Launch& launch, int64_t batch, const Triangle<T>& triangle, int64_t n,
                      Matrix<T> x, int64_t step, int64_t columns) {
  const int64_t groups = (columns + kSolvedColumns - 1) / kSolvedColumns;
  for (int64_t done = 0; done < n; done += kSolvedRows) {
    const int64_t size = n - done < kSolvedRows ? n - done : kSolvedRows, rest = n - done - size;
    const int64_t first = triangle.lower ? done : rest, at = triangle.lower ? done + size : 0;
    const Triangle<T> block{triangle.matrices.at(first, first), triangle.lower, triangle.unit};
    const Matrix<T> rows{x.data + first * x.row, x.row, x.column};
    each(launch, batch * groups, size * size * kSolvedColumns / 2,
         SubstituteItem<T>{block, size, rows, step, columns, groups});
    if (rest == 0) break;
    const Operand<T> solved{{rows.data, x.row, x.column}, step, false};
    multiply_batch<T>(launch, batch, rest, columns, size, real_t<T>(-1),
                      triangle.matrices.at(at, first), solved, real_t<T>(1),
                      Matrix<T>{x.data + at * x.row, x.row, x.column}, step);
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_TRIANGULAR_SOLVE_H_
