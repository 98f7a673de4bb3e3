// Discrete Fourier transforms of many rows: with mixed radices for lengths with small prime factors
// (Van Loan, Computational frameworks for the fast Fourier transform, SIAM 1992, section 1.7), else
// as convolutions with a chirp (Bluestein, A linear filtering approach to the computation of the
// discrete Fourier transform, 1970).
#ifndef DL_KERNELS_SPECTRAL_FOURIER_H_
#define DL_KERNELS_SPECTRAL_FOURIER_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/math/complex_arithmetic.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/spectral/unit_roots.h"
#if DL_KERNELS_GPU
#include "dl_kernels/gpu/fourier.h"
#else
#include "dl_kernels/cpu/fourier.h"
#endif

DL_KERNELS_BEGIN

// Bound for which squared positions in a row, and their doubles, fit into int64.
inline constexpr int64_t kLongestTransform = int64_t{1} << 31;

// Elements of the rows that are convolved at once: they should stay in a core's cache.
inline constexpr int64_t kChirpedElements = DL_KERNELS_GPU ? int64_t{1} << 24 : int64_t{1} << 17;

// exp(-πi · j² / n) for j < n.
template <class T>
struct ChirpItem {
  T* to;
  int64_t n;
  bool forward;
  DL_FN void operator()(int64_t j) const {
    to[j] = unit_root<real_t<T>>(j * j % (2 * n), 2 * n, forward);
  }
};

// Multiply a row of n by the chirp, padded with zeros to `length`; `inner` rows are interleaved,
// and `first` is the first one of this call.
template <class T>
struct ChirpedRow {
  T* to;
  const T* from;
  const T* chirp;
  int64_t n, length, inner, first;
  DL_FN void operator()(const Block& block, int64_t item) const {
    const int64_t row = first + item;
    const T* const x = from + row / inner * n * inner + row % inner;
    T* const y = to + item * length;
    const T* const factor = chirp;
    const int64_t step = inner;
    block.map(n, [=](int64_t j) { y[j] = x[j * step] * factor[j]; });
    block.map_part(n, length, [=](int64_t j) { y[j] = T{}; });
  }
};

// The convolution kernel: the chirp's conjugate, centered at 0.
template <class T>
struct FilterItem {
  T* to;
  const T* chirp;
  int64_t n, length;
  DL_FN void operator()(int64_t j) const {
    to[j] = j < n ? conjugate(chirp[j]) : length - j < n ? conjugate(chirp[length - j]) : T{};
  }
};

template <class T>
struct FilteredRow {
  T* to;
  const T* filter;
  int64_t length;
  DL_FN void operator()(const Block& block, int64_t row) const {
    T* const y = to + row * length;
    const T* const factor = filter;
    block.map(length, [=](int64_t j) { y[j] = y[j] * factor[j]; });
  }
};

template <class T>
struct UnchirpedRow {
  T* to;
  const T* from;
  const T* chirp;
  int64_t n, length, inner, first;
  DL_FN void operator()(const Block& block, int64_t item) const {
    const int64_t row = first + item;
    T* const y = to + row / inner * n * inner + row % inner;
    const T* const x = from + item * length;
    const T* const factor = chirp;
    const int64_t step = inner;
    block.map(n, [=](int64_t k) { y[k * step] = x[k] * factor[k]; });
  }
};

// Length of the convolution with the chirp of n: the shortest that is 1, 3 or 5 times a power of 2.
// On GPUs only powers of 2, whose plans are shorter.
inline int64_t chirped_length(int64_t n) {
  int64_t best = 1;
  while (best < 2 * n - 1) best *= 2;
  for (int64_t odd = 3; !DL_KERNELS_GPU && odd <= 5; odd += 2) {
    int64_t length = odd;
    while (length < 2 * n - 1) length *= 2;
    best = length < best ? length : best;
  }
  return best;
}

// `scale` times the transform over j of the elements (o, j, i), at [(o * n + j) * inner + i]. `to`
// must not overlap `from`.
template <class T>
void transform(const Launch& launch, T* to, const T* from, int64_t outer, int64_t n, int64_t inner,
               bool forward, real_t<T> scale) {
  if (Radixes(n).is_smooth) {
    SmoothFourier<T>(launch, n, forward).run(to, from, outer, inner, scale);
    return;
  }
  const int64_t length = chirped_length(n);
  const int64_t rows_in_all = outer * inner, in_memory = kChirpedElements / length;
  const int64_t at_once = in_memory < 1 ? 1 : in_memory < rows_in_all ? in_memory : rows_in_all;
  const Workspace<T> chirp(launch, n), filters(launch, 2 * length);
  const Workspace<T> padded(launch, at_once * length), spectra(launch, at_once * length);
  T* const filter = filters.data() + length;
  each(launch, n, 64, ChirpItem<T>{chirp.data(), n, forward});
  each(launch, length, 4, FilterItem<T>{filters.data(), chirp.data(), n, length});
  const SmoothFourier<T> ahead(launch, length, true), back(launch, length, false);
  ahead.run(filter, filters.data(), 1, 1, scale / static_cast<real_t<T>>(length));
  for (int64_t first = 0; first < rows_in_all; first += at_once) {
    const int64_t left = rows_in_all - first, count = left < at_once ? left : at_once;
    rows(launch, count, 4 * length,
         ChirpedRow<T>{padded.data(), from, chirp.data(), n, length, inner, first});
    ahead.run(spectra.data(), padded.data(), count, 1, real_t<T>(1));
    rows(launch, count, 4 * length, FilteredRow<T>{spectra.data(), filter, length});
    back.run(padded.data(), spectra.data(), count, 1, real_t<T>(1));
    rows(launch, count, 4 * n,
         UnchirpedRow<T>{to, padded.data(), chirp.data(), n, length, inner, first});
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_SPECTRAL_FOURIER_H_
