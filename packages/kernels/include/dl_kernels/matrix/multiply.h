// Products of real or complex matrices, which may be conjugated.
#ifndef DL_KERNELS_MATRIX_MULTIPLY_H_
#define DL_KERNELS_MATRIX_MULTIPLY_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/matrix/gemm.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// A batch of `batch` matrices with the stride `step`.
template <class T>
struct Operand {
  Matrix<const T> matrix;
  int64_t step = 0;
  bool conjugated = false;

  DL_FN T element(int64_t i, int64_t j) const {
    return conjugate(matrix.data[i * matrix.row + j * matrix.column], conjugated);
  }
  // The transpose.
  Operand transposed() const { return {matrix.transposed(), step, conjugated}; }
  // The conjugate transpose.
  Operand adjoint() const { return {matrix.transposed(), step, !conjugated}; }
  Operand at(int64_t row, int64_t column) const {
    return {{matrix.data + row * matrix.row + column * matrix.column, matrix.row, matrix.column},
            step,
            conjugated};
  }
  DL_FN Operand in_batch(int64_t i) const {
    return {{matrix.data + i * step, matrix.row, matrix.column}, step, conjugated};
  }
};

namespace detail {

// A copy of the real (0) or imaginary (1) parts of a matrix.
template <class R, class T>
Matrix<R> parts(const Matrix<T>& matrix, int part) {
  return {reinterpret_cast<R*>(matrix.data) + part, 2 * matrix.row, 2 * matrix.column};
}

// Store row l of B as rows 2l and 2l + 1 of a real matrix B', so that A · B is A' · B'. A' and the
// result store the real and imaginary part of each number next to each other.
template <class R>
struct PartsRow {
  R* to;
  Operand<Complex<R>> b;
  int64_t columns;
  bool left_conjugated;

  DL_FN void operator()(const Block& block, int64_t l) const {
    const Complex<R>* const x = b.matrix.data + l * b.matrix.row;
    R* const of_re = to + 4 * l * columns;
    R* const of_im = of_re + 2 * columns;
    const int64_t step = b.matrix.column;
    const R sign = b.conjugated ? R(-1) : R(1), left_sign = left_conjugated ? R(1) : R(-1);
    block.map(columns, [=](int64_t j) {
      const R re = x[j * step].re, im = sign * x[j * step].im;
      of_re[2 * j] = re;
      of_re[2 * j + 1] = im;
      of_im[2 * j] = left_sign * im;
      of_im[2 * j + 1] = -left_sign * re;
    });
  }
};

template <class T>
struct DenseRow {
  T* to;
  Matrix<const T> from;
  int64_t columns;

  DL_FN void operator()(const Block& block, int64_t i) const {
    const T* const x = from.data + i * from.row;
    T* const y = to + i * columns;
    const int64_t step = from.column;
    block.map(columns, [=](int64_t j) { y[j] = x[j * step]; });
  }
};

// Columns of B that are split at once, and the smallest number of rows of A for which splitting B
// pays off.
inline constexpr int64_t kPartColumns = 512, kLeastRows = 8;

// Like `multiply`, by one real product; false if it does not pay off.
template <class R>
bool multiply_in_parts(const Launch& launch, int64_t m, int64_t n, int64_t k, R alpha,
                       const Operand<Complex<R>>& a, const Operand<Complex<R>>& b, R beta,
                       const Matrix<Complex<R>>& c) {
  if (c.column != 1) {
    return c.row == 1 && multiply_in_parts(launch, n, m, k, alpha, b.transposed(), a.transposed(),
                                           beta, c.transposed());
  }
  if (m < kLeastRows || k == 0) return false;
  Workspace<Complex<R>> dense;
  Matrix<const Complex<R>> left = a.matrix;
  if (left.column != 1) {
    dense.reserve(launch, m * k);
    rows(launch, m, k, DenseRow<Complex<R>>{dense.data(), left, k});
    left = {dense.data(), k, 1};
  }
  const Matrix<const R> a_parts{reinterpret_cast<const R*>(left.data), 2 * left.row, 1};
  const Workspace<R> b_parts(launch, 4 * k * (n < kPartColumns ? n : kPartColumns));
  for (int64_t first = 0; first < n; first += kPartColumns) {
    const int64_t columns = n - first < kPartColumns ? n - first : kPartColumns;
    rows(launch, k, 4 * columns,
         PartsRow<R>{b_parts.data(), b.at(0, first), columns, a.conjugated});
    gemm<R>(launch, m, 2 * columns, 2 * k, alpha, a_parts, {b_parts.data(), 2 * columns, 1}, beta,
            Matrix<R>{reinterpret_cast<R*>(c.data + first), 2 * c.row, 1});
  }
  return true;
}

}  // namespace detail

// c = alpha · a · b + beta · c, with a [m, k] and b [k, n]. C must not overlap A or B. O is the
// element type of C.
template <class T, class O = T>
void multiply(const Launch& launch, int64_t m, int64_t n, int64_t k, real_t<compute_t<T>> alpha,
              const Operand<T>& a, const Operand<T>& b, real_t<compute_t<T>> beta, Matrix<O> c) {
  if constexpr (kIsComplex<T>) {
    using R = real_t<T>;
    if (detail::multiply_in_parts<R>(launch, m, n, k, alpha, a, b, beta, c)) return;
    const Matrix<const R> a_re = detail::parts<const R>(a.matrix, 0),
                          a_im = detail::parts<const R>(a.matrix, 1),
                          b_re = detail::parts<const R>(b.matrix, 0),
                          b_im = detail::parts<const R>(b.matrix, 1);
    const Matrix<R> re = detail::parts<R>(c, 0), im = detail::parts<R>(c, 1);
    const R of_a = a.conjugated ? -alpha : alpha, of_b = b.conjugated ? -alpha : alpha;
    const R of_both = a.conjugated == b.conjugated ? -alpha : alpha;
    gemm<R>(launch, m, n, k, alpha, a_re, b_re, beta, re);
    gemm<R>(launch, m, n, k, of_both, a_im, b_im, R(1), re);
    gemm<R>(launch, m, n, k, of_b, a_re, b_im, beta, im);
    gemm<R>(launch, m, n, k, of_a, a_im, b_re, R(1), im);
  } else {
    gemm<T, O>(launch, m, n, k, alpha, a.matrix, b.matrix, beta, c);
  }
}

// The same for every matrix of a batch; C's matrices have the stride `c_step`. Complex products
// ignore the precision setting.
template <class T, class O = T>
void multiply_batch(const Launch& launch, int64_t batch, int64_t m, int64_t n, int64_t k,
                    real_t<compute_t<T>> alpha, const Operand<T>& a, const Operand<T>& b,
                    real_t<compute_t<T>> beta, Matrix<O> c, int64_t c_step,
                    [[maybe_unused]] MatmulPrecision precision = MatmulPrecision::kFloat32) {
  if (m == 0 || n == 0) return;
#if defined(DL_KERNELS_GEMM_BATCH)
  if constexpr (!kIsComplex<T>) {
    gemm_batch<T, O>(launch, batch, m, n, k, alpha, {a.matrix, a.step}, {b.matrix, b.step}, beta,
                     {c, c_step}, nullptr, precision);
    return;
  }
#endif
  if (batch == 1) {
    multiply<T, O>(launch, m, n, k, alpha, a, b, beta, c);
    return;
  }
  launch.parallel_for(batch, grain_for(m * n * (k < 1 ? 1 : k)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      multiply<T, O>(launch, m, n, k, alpha, a.in_batch(i), b.in_batch(i), beta,
                     Matrix<O>{c.data + i * c_step, c.row, c.column});
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_MULTIPLY_H_
