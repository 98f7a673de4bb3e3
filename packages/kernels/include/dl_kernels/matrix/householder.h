// QR factorization by Householder reflectors with LAPACK's sign convention: a reflector gives a
// diagonal element the sign opposite to that of its previous real part. The reflectors of a panel
// of columns are applied to the other columns as one, in the form I - V · T · Vᴴ (Schreiber and Van
// Loan, A storage-efficient WY representation, 1989).
//
// Matrices are column-major: element (i, j) of one with `rows` rows is [j * rows + i].
#ifndef DL_KERNELS_MATRIX_HOUSEHOLDER_H_
#define DL_KERNELS_MATRIX_HOUSEHOLDER_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/matrix/multiply.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

// Columns of a panel.
inline constexpr int64_t kReflectors = 32;

struct QrShape {
  int64_t batch, rows, columns;
  int64_t reflectors() const { return rows < columns ? rows : columns; }
};

template <class R>
struct Larger {
  DL_FN R operator()(R a, R b) const { return max_nan(a, b); }
};
template <class T>
struct Plus {
  DL_FN T operator()(T a, T b) const { return a + b; }
};

// Columns up to this length are processed by one thread.
inline constexpr int64_t kShortColumn = 64;

// A single worker, for columns too short for a block.
struct Alone {
  template <class F>
  DL_FN void map(int64_t n, const F& f) const {
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) f(i);
  }

  template <class T, class Combine, class F>
  DL_FN T reduce(int64_t n, T start, const Combine& combine, const F& f) const {
    // Separate variables instead of an array: complex numbers stay in registers.
    T first = start, second = start, third = start, fourth = start;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      first = combine(first, f(i));
      second = combine(second, f(i + 1));
      third = combine(third, f(i + 2));
      fourth = combine(fourth, f(i + 3));
    }
    for (; i < n; ++i) first = combine(first, f(i));
    return combine(combine(first, second), combine(third, fourth));
  }
};

template <class Kernel>
struct AloneItem {
  Kernel kernel;
  DL_FN void operator()(int64_t i) const { kernel(Alone{}, i); }
};

// Run rows of the kernel for columns of `length`.
template <class Kernel>
void for_columns(const Launch& launch, int64_t count, int64_t length, const Kernel& kernel) {
  if (length <= kShortColumn) {
    each(launch, count, 4 * length, AloneItem<Kernel>{kernel});
  } else {
    rows(launch, count, 4 * length, kernel);
  }
}

// Compute reflector j of each matrix: I - tau · v · vᴴ, where v is 1 followed by the elements
// stored below the diagonal of column j.
template <class T>
struct ReflectorRow {
  T* a;
  T* taus;
  int64_t rows, columns, reflectors, j;

  template <class Worker>
  DL_FN void operator()(const Worker& block, int64_t matrix) const {
    using R = real_t<T>;
    T* const x = a + (matrix * columns + j) * rows + j;
    T* const tau = taus + matrix * reflectors + j;
    const T alpha = x[0];
    const int64_t below = rows - j - 1;
    // Elements are scaled before they are squared, to avoid overflow and underflow.
    const R under = block.reduce(below, R(0), Larger<R>{}, [=](int64_t i) {
      return max_nan(std::fabs(real_part(x[i + 1])), std::fabs(imaginary_part(x[i + 1])));
    });
    const R scale =
        max_nan(under, max_nan(std::fabs(real_part(alpha)), std::fabs(imaginary_part(alpha))));
    const bool is_done = under == R(0) && imaginary_part(alpha) == R(0);
    const auto square = [scale](T value) {
      const R re = real_part(value) / scale, im = imaginary_part(value) / scale;
      return re * re + im * im;
    };
    const R squares =
        block.reduce(below, R(0), Plus<R>{}, [=](int64_t i) { return square(x[i + 1]); });
    const R norm = scale * std::sqrt(squares + square(alpha));
    const R beta = -std::copysign(norm, real_part(alpha));
    const T pivot = alpha - cast<T>(beta);
    if (!is_done) block.map(below, [=](int64_t i) { x[i + 1] = x[i + 1] / pivot; });
    block.map(1, [=](int64_t) {
      *tau = is_done ? T{} : (cast<T>(beta) - alpha) / beta;
      x[0] = is_done ? alpha : cast<T>(beta);
    });
  }
};

// Apply reflector j, or its adjoint, to columns of other matrices, or of the same ones.
template <class T>
struct ApplyReflectorRow {
  T* to;  // with the same number of rows
  const T* a;
  const T* taus;
  int64_t to_columns, first, count;
  int64_t rows, columns, reflectors, j;
  bool adjoint;

  template <class Worker>
  DL_FN void operator()(const Worker& block, int64_t item) const {
    const int64_t matrix = item / count, column = first + item % count;
    const T* const v = a + (matrix * columns + j) * rows + j + 1;
    T* const x = to + (matrix * to_columns + column) * rows + j;
    T* const y = x + 1;
    const T top = x[0];
    const int64_t below = rows - j - 1;
    const T along = top + block.reduce(below, T{}, Plus<T>{},
                                       [=](int64_t i) { return conjugate(v[i]) * y[i]; });
    const T part = conjugate(taus[matrix * reflectors + j], adjoint) * along;
    block.map(below, [=](int64_t i) { y[i] = y[i] - v[i] * part; });
    block.map(1, [=](int64_t) { x[0] = top - part; });
  }
};

// Expand the vectors of a panel's reflectors: 0 above the diagonal, 1 on it.
template <class T>
struct VectorItem {
  T* to;
  const T* a;
  int64_t rows, columns, first, width;

  DL_FN void operator()(int64_t item) const {
    const int64_t height = rows - first, i = item % height, k = item / height % width;
    const int64_t matrix = item / height / width;
    to[item] = i < k    ? T{}
               : i == k ? cast<T>(real_t<T>(1))
                        : a[(matrix * columns + first + k) * rows + first + i];
  }
};

// Compute T from the products G = Vᴴ · V, both [width, width] and row-major. Row i of T is always
// computed by the same worker.
template <class T>
struct PanelFactorRow {
  T* factor;
  const T* products;
  const T* taus;
  int64_t reflectors, first, width;

  DL_FN void operator()(const Block& block, int64_t matrix) const {
    T* const t = factor + matrix * width * width;
    const T* const g = products + matrix * width * width;
    const int64_t size = width;
    for (int64_t j = 0; j < size; ++j) {
      const T tau = taus[matrix * reflectors + first + j];
      block.map(size, [=](int64_t i) {
        T sum{};
        for (int64_t l = i; l < j; ++l) sum = sum + t[i * size + l] * g[l * size + j];
        t[i * size + j] = i < j ? -(tau * sum) : i == j ? tau : T{};
      });
    }
  }
};

// Factorization of a batch: R is on and above the diagonal of `a`, the vectors of the reflectors
// are below it.
template <class T>
class HouseholderQr {
 public:
  HouseholderQr(const Launch& launch, const QrShape& shape, T* a)
      : launch_(launch),
        shape_(shape),
        a_(a),
        count_(shape.reflectors()),
        taus_(launch, shape.batch * count_) {
    const int64_t n = shape_.columns;
    const bool in_panels = n > kReflectors;
    for (int64_t first = 0; first < count_; first += kReflectors) {
      const int64_t end = end_of(first), reach = in_panels ? end : n;
      for (int64_t j = first; j < end; ++j) {
        for_columns(launch_, shape_.batch, shape_.rows - j,
                    ReflectorRow<T>{a_, taus_.data(), shape_.rows, n, count_, j});
        apply(j, a_, n, j + 1, reach, true);
      }
      if (reach < n) Panel(*this, first).apply(a_, n, reach, true);
    }
  }

  // Apply the product of all reflectors to `q`, which holds the first columns of the identity.
  void multiply_identity(T* q, int64_t columns) const {
    const bool in_panels = count_ > kReflectors;
    for (int64_t last = count_; last > 0;) {
      const int64_t first = (last - 1) / kReflectors * kReflectors;
      // The columns before `first` are 0 where these reflectors act.
      if (in_panels) {
        Panel(*this, first).apply(q, columns, first, false);
      } else {
        for (int64_t j = last - 1; j >= first; --j) apply(j, q, columns, j, columns, false);
      }
      last = first;
    }
  }

 private:
  int64_t end_of(int64_t first) const {
    return first + kReflectors < count_ ? first + kReflectors : count_;
  }

  // Apply to columns [begin, end) of `to`.
  void apply(int64_t j, T* to, int64_t to_columns, int64_t begin, int64_t end, bool adjoint) const {
    if (begin >= end) return;
    for_columns(launch_, shape_.batch * (end - begin), shape_.rows - j,
                ApplyReflectorRow<T>{to, a_, taus_.data(), to_columns, begin, end - begin,
                                     shape_.rows, shape_.columns, count_, j, adjoint});
  }

  // The reflectors of a panel, combined.
  class Panel {
   public:
    Panel(const HouseholderQr& qr, int64_t first)
        : qr_(qr),
          first_(first),
          width_(qr.end_of(first) - first),
          height_(qr.shape_.rows - first),
          vectors_(qr.launch_, qr.shape_.batch * width_ * height_),
          factor_(qr.launch_, qr.shape_.batch * width_ * width_) {
      const QrShape& shape = qr_.shape_;
      const Workspace<T> products(qr_.launch_, shape.batch * width_ * width_);
      each(qr_.launch_, shape.batch * width_ * height_, 4,
           VectorItem<T>{vectors_.data(), qr_.a_, shape.rows, shape.columns, first_, width_});
      multiply_batch<T>(qr_.launch_, shape.batch, width_, width_, height_, real_t<T>(1),
                        vectors().adjoint(), vectors(), real_t<T>(0),
                        Matrix<T>{products.data(), width_, 1}, width_ * width_);
      rows(qr_.launch_, shape.batch, width_ * width_ * width_ / 4,
           PanelFactorRow<T>{factor_.data(), products.data(), qr_.taus_.data(), qr_.count_, first_,
                             width_});
    }

    // Apply to the columns of `to` from `begin` on.
    void apply(T* to, int64_t to_columns, int64_t begin, bool adjoint) const {
      using R = real_t<T>;
      const int64_t count = to_columns - begin, rows = qr_.shape_.rows, batch = qr_.shape_.batch;
      const int64_t step = to_columns * rows, product_step = width_ * count;
      const Workspace<T> along(qr_.launch_, batch * product_step),
          parts(qr_.launch_, batch * product_step);
      const Matrix<T> target{to + begin * rows + first_, 1, rows};
      const Operand<T> old{{target.data, target.row, target.column}, step, false};
      const Operand<T> factor{{factor_.data(), width_, 1}, width_ * width_, false};
      // Column-major, like its operands and its result.
      const Operand<T> x{{along.data(), 1, width_}, product_step, false};
      const Operand<T> y{{parts.data(), 1, width_}, product_step, false};
      multiply_batch<T>(qr_.launch_, batch, width_, count, height_, R(1), vectors().adjoint(), old,
                        R(0), Matrix<T>{along.data(), 1, width_}, product_step);
      multiply_batch<T>(qr_.launch_, batch, width_, count, width_, R(1),
                        adjoint ? factor.adjoint() : factor, x, R(0),
                        Matrix<T>{parts.data(), 1, width_}, product_step);
      multiply_batch<T>(qr_.launch_, batch, height_, count, width_, R(-1), vectors(), y, R(1),
                        target, step);
    }

   private:
    Operand<T> vectors() const { return {{vectors_.data(), 1, height_}, width_ * height_, false}; }

    const HouseholderQr& qr_;
    int64_t first_, width_, height_;
    Workspace<T> vectors_, factor_;
  };

  const Launch& launch_;
  QrShape shape_;
  T* a_;
  int64_t count_;
  Workspace<T> taus_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_MATRIX_HOUSEHOLDER_H_
