// CPU: mixed-radix Fourier transforms for lengths with small prime factors, in Stockham's autosort
// order, for as many rows at once as a vector has lanes. A long row is treated as a matrix whose
// columns and then rows are transformed (the four-step method; Bailey, FFTs in external or
// hierarchical memory, 1990).
#ifndef DL_KERNELS_CPU_FOURIER_H_
#define DL_KERNELS_CPU_FOURIER_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/fourier_lanes.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/spectral/unit_roots.h"

DL_KERNELS_BEGIN

namespace detail {

// Roots of unity in double precision, as products of entries of two short tables.
class RootsOfLength {
 public:
  RootsOfLength(const Launch& launch, int64_t n, bool forward) : shift_(0) {
    // Short tables are exact.
    while (n >> shift_ > 64 && n >> shift_ > int64_t{1} << shift_) ++shift_;
    const int64_t coarse = (n >> shift_) + 1, fine = int64_t{1} << shift_;
    coarse_.reserve(launch, coarse);
    fine_.reserve(launch, fine);
    for (int64_t i = 0; i < coarse; ++i) {
      coarse_.data()[i] = unit_root<double>((i << shift_) % n, n, forward);
    }
    for (int64_t i = 0; i < fine; ++i) fine_.data()[i] = unit_root<double>(i % n, n, forward);
  }
  Complex<double> operator()(int64_t i) const {
    return coarse_.data()[i >> shift_] * fine_.data()[i & ((int64_t{1} << shift_) - 1)];
  }

 private:
  int shift_;
  Workspace<Complex<double>> coarse_, fine_;
};

// Transforms of a given length for a group of lanes.
template <class R>
class LaneFourier {
 public:
  LaneFourier(const Launch& launch, int64_t n, bool forward)
      : n_(n), sign_(forward ? R(1) : R(-1)), radixes_(n), roots_(launch, n) {
    const RootsOfLength root(launch, n, forward);
    for (int64_t i = 0; i < n; ++i) {
      const Complex<double> value = root(i);
      roots_.data()[i] = {static_cast<R>(value.re), static_cast<R>(value.im)};
    }
  }

  int64_t length() const { return n_; }

  // Both arrays are overwritten; the one that holds the result is returned.
  ComplexLanes<R>* run(ComplexLanes<R>* from, ComplexLanes<R>* other) const {
    int64_t known = 1;
    for (int f = 0; f < radixes_.count; ++f) {
      const int radix = radixes_.values[f];
      stage(radix, RadixStage<R>{other, from, roots_.data(), n_, known, sign_, radix});
      known *= radix;
      ComplexLanes<R>* const done = other;
      other = from;
      from = done;
    }
    return from;
  }

 private:
  static void stage(int radix, const RadixStage<R>& work) {
    switch (radix) {
      case 2:
        return work.template run<2>();
      case 3:
        return work.template run<3>();
      case 4:
        return work.template run<4>();
      case 5:
        return work.template run<5>();
      case 7:
        return work.template run<7>();
      default:
        return work.template run<0>();
    }
  }

  int64_t n_;
  R sign_;
  Radixes radixes_;
  Workspace<Complex<R>> roots_;
};

}  // namespace detail

template <class T>
class SmoothFourier {
  using R = real_t<T>;
  using Lanes = detail::ComplexLanes<R>;
  static constexpr int kLanes = Lanes::kCount;

 public:
  SmoothFourier(const Launch& launch, int64_t n, bool forward)
      : launch_(launch), n_(n), forward_(forward) {}

  // Transform over j the elements (o, j, i), at [(o * n + j) * inner + i]. `to` must not overlap
  // `from`.
  void run(T* to, const T* from, int64_t outer, int64_t inner, R scale) const {
    const int64_t columns = columns_of(n_);
    const bool is_long = n_ > kLongest || outer < kLanes;
    if (inner == 1 && is_long && n_ >= kShortest && columns >= kLanes / 2) {
      run_as_matrices(to, from, outer, columns, scale);
    } else {
      run_rows(to, from, outer, inner, scale);
    }
  }

 private:
  // Maximum length whose two arrays of lanes stay in a core's private cache.
  static constexpr int64_t kLongest = 4096;
  // Minimum length for which the two passes pay off.
  static constexpr int64_t kShortest = 256;

  // Return the largest divisor up to the square root.
  static int64_t columns_of(int64_t n) {
    int64_t best = 1;
    for (int64_t d = 1; d * d <= n; ++d) {
      if (n % d == 0) best = d;
    }
    return best;
  }

  // Cost of transforming a group of lanes.
  static int64_t work_of(int64_t n) { return 16 * n * kLanes; }

  void run_rows(T* to, const T* from, int64_t outer, int64_t inner, R scale) const {
    const detail::LaneFourier<R> plan(launch_, n_, forward_);
    const int64_t rows = outer * inner, groups = (rows + kLanes - 1) / kLanes, n = n_;
    launch_.parallel_for(groups, grain_for(work_of(n)), [&](int64_t begin, int64_t end) {
      const Workspace<Lanes> lanes(launch_, 2 * n);
      for (int64_t group = begin; group < end; ++group) {
        const int64_t first = group * kLanes, left = rows - first;
        const detail::RowsOfLanes<T> some{n, inner, first,
                                          left < kLanes ? static_cast<int>(left) : kLanes};
        some.load(lanes.data(), from);
        Lanes* const found = plan.run(lanes.data(), lanes.data() + n);
        if (scale != 1) {
          for (int64_t j = 0; j < n; ++j) found[j] = found[j] * scale;
        }
        some.store(to, found);
      }
    });
  }

  // n = height · width: element (a, b) of a row is at [a * width + b], and of its transform at [b *
  // height + a].
  void run_as_matrices(T* to, const T* from, int64_t rows, int64_t height, R scale) const {
    const int64_t n = n_, width = n / height;
    const detail::LaneFourier<R> down(launch_, height, forward_), across(launch_, width, forward_);
    const detail::RootsOfLength root(launch_, n, forward_);
    // Twiddle factors exp(∓2πi · a · lane / n).
    const Workspace<Lanes> column_twiddles(launch_, height);
    for (int64_t a = 0; a < height; ++a) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Complex<double> value = root(a * lane % n);
        column_twiddles.data()[a].re[lane] = static_cast<R>(value.re);
        column_twiddles.data()[a].im[lane] = static_cast<R>(value.im);
      }
    }
    const Workspace<T> between(launch_, rows * n);
    over_groups(rows, width, height, [&](Lanes* lanes, int64_t row, int64_t b, int count) {
      const T* const x = from + row * n + b;
      for (int64_t a = 0; a < height; ++a) lanes[a].load(x + a * width, count);
      Lanes* const found = down.run(lanes, lanes + height);
      T* const y = between.data() + row * n + b;
      for (int64_t a = 0; a < height; ++a) {
        const Complex<double> value = root(a * b % n);
        const Complex<R> row_twiddle{static_cast<R>(value.re), static_cast<R>(value.im)};
        (found[a] * row_twiddle * column_twiddles.data()[a]).store(y + a * width, count);
      }
    });
    over_groups(rows, height, width, [&](Lanes* lanes, int64_t row, int64_t a, int count) {
      const detail::RowsOfLanes<T> some{width, 1, row * height + a, count};
      some.load(lanes, between.data());
      Lanes* const found = across.run(lanes, lanes + width);
      T* const y = to + row * n + a;
      for (int64_t b = 0; b < width; ++b) (found[b] * scale).store(y + b * height, count);
    });
  }

  // Call f with transforms of `length`, `count` of which are adjacent in each row.
  template <class F>
  void over_groups(int64_t rows, int64_t count, int64_t length, const F& f) const {
    const int64_t groups = (count + kLanes - 1) / kLanes;
    launch_.parallel_for(
        rows * groups, grain_for(work_of(length)), [&](int64_t begin, int64_t end) {
          const Workspace<Lanes> lanes(launch_, 2 * length);
          for (int64_t item = begin; item < end; ++item) {
            const int64_t first = item % groups * kLanes, left = count - first;
            f(lanes.data(), item / groups, first, left < kLanes ? static_cast<int>(left) : kLanes);
          }
        });
  }

  const Launch& launch_;
  int64_t n_;
  bool forward_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_FOURIER_H_
