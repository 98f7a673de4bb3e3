// GPU: the gradient of an embedding. Indices are sorted, so that the gradients of a row follow each
// other; threads sum short runs of them in the order of the indices, and a second pass joins the
// runs of a row. Results are deterministic.
#ifndef DL_KERNELS_GPU_EMBEDDING_GRADIENT_H_
#define DL_KERNELS_GPU_EMBEDDING_GRADIENT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/sort/sort.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T>
struct EmbeddingGradient {
  using C = compute_t<T>;
  static constexpr int64_t kRun = 32;  // indices per thread
  T* out;                              // zero-initialized
  const T* grad;
  const int64_t *named, *order;  // sorted indices, and their original positions
  int64_t count, width, padding;
  const C* scale;   // of each row; may be null
  C* edges;         // sums of each run for rows that begin before it or continue after it
  int64_t vectors;  // vectors per row
  bool in_vectors;

  static constexpr int kWide = kVector<T>;

  DL_DEVICE C factor(int64_t row) const { return scale == nullptr ? C(1) : scale[row]; }
  // Address of the sum of the row in which run k begins (0), or in which it ends (1).
  DL_DEVICE C* edge(int64_t k, int which) const { return edges + (2 * k + which) * width; }
  DL_DEVICE int64_t begin(int64_t k) const { return k * kRun; }
  DL_DEVICE int64_t end(int64_t k) const { return begin(k + 1) < count ? begin(k + 1) : count; }
};

// One run and a few adjacent columns.
template <class T>
struct EmbeddingRunItem {
  using Job = EmbeddingGradient<T>;
  using C = compute_t<T>;
  static constexpr int kWide = Job::kWide;
  Job job;

  DL_DEVICE void operator()(int64_t item) const {
    const int64_t k = quotient_of(item, job.vectors), first = (item - k * job.vectors) * kWide;
    const int columns = job.width - first < kWide ? static_cast<int>(job.width - first) : kWide;
    const int64_t begin = job.begin(k), end = job.end(k);
    int64_t row = job.named[begin];
    bool before = begin > 0 && job.named[begin - 1] == row;
    C sum[kWide] = {};
    for (int64_t i = begin; i < end; ++i) {
      const int64_t named = job.named[i];
      if (named != row) {
        close(k, row, first, columns, before, false, sum);
        row = named;
        before = false;
        DL_UNROLL
        for (int j = 0; j < kWide; ++j) sum[j] = 0;
      }
      C more[kWide] = {};
      load_some(job.grad + job.order[i] * job.width + first, job.in_vectors, columns, more);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) sum[j] += more[j];
    }
    close(k, row, first, columns, before, end < job.count && job.named[end] == row, sum);
  }

 private:
  DL_DEVICE void close(int64_t k, int64_t row, int64_t first, int columns, bool before, bool after,
                       C (&sum)[kWide]) const {
    if (row == job.padding) return;
    if (before || after) {
      store_some(job.edge(k, before ? 0 : 1) + first, false, columns, sum);
      return;
    }
    const C factor = job.factor(row);
    DL_UNROLL
    for (int j = 0; j < kWide; ++j) sum[j] *= factor;
    store_some(job.out + row * job.width + first, job.in_vectors, columns, sum);
  }
};

// One column of a row that begins in run k and continues in later ones.
template <class T>
struct EmbeddingJoinItem {
  using C = compute_t<T>;
  EmbeddingGradient<T> job;

  DL_DEVICE void operator()(int64_t item) const {
    const int64_t k = quotient_of(item, job.width), column = item - k * job.width;
    const int64_t begin = job.begin(k), end = job.end(k);
    if (end == job.count) return;
    const int64_t row = job.named[end - 1];
    const bool began_before = begin > 0 && job.named[begin - 1] == row;
    if (began_before || job.named[end] != row || row == job.padding) return;
    double sum = static_cast<double>(job.edge(k, 1)[column]);
    for (int64_t i = k + 1; job.begin(i) < job.count && job.named[job.begin(i)] == row; ++i)
      sum += static_cast<double>(job.edge(i, 0)[column]);
    job.out[row * job.width + column] = cast<T>(static_cast<C>(sum) * job.factor(row));
  }
};

// Reciprocal of the number of occurrences of each row. Item i searches for the end of the row that
// begins at index i.
template <class C>
struct NamedFrequencyItem {
  C* scale;
  const int64_t* named;
  int64_t count;

  DL_DEVICE void operator()(int64_t i) const {
    const int64_t row = named[i];
    if (i > 0 && named[i - 1] == row) return;
    int64_t low = i + 1, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (named[middle] == row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    scale[row] = C(1) / static_cast<C>(low - i);
  }
};

}  // namespace gpu

// `out` has `rows` rows of `width` elements and need not be initialized.
template <class T>
diopiError_t embedding_gradient(const Launch& launch, T* out, const T* grad, const int64_t* index,
                                int64_t count, int64_t rows, int64_t width, int64_t padding,
                                bool by_frequency) {
  using Job = gpu::EmbeddingGradient<T>;
  using C = compute_t<T>;
  clear_bytes(launch, out, rows * width * static_cast<int64_t>(sizeof(T)));
  if (count == 0 || width == 0) return diopiSuccess;
  const int64_t runs = (count + Job::kRun - 1) / Job::kRun;
  const Workspace<int64_t> named(launch, count), order(launch, count);
  DL_TRY(sort_along<int64_t>(launch, {false}, dense_rows(1, count, count), index, named.data(),
                             order.data()));
  const Workspace<C> scale(launch, by_frequency ? rows : 0), edges(launch, 2 * runs * width);
  if (by_frequency)
    each(launch, count, 1, gpu::NamedFrequencyItem<C>{scale.data(), named.data(), count});
  const bool in_vectors = width % Job::kWide == 0 && gpu::is_aligned(out, Job::kWide) &&
                          gpu::is_aligned(grad, Job::kWide);
  const Job job{
      out,       grad,    named.data(), order.data(), count,
      width,     padding, scale.data(), edges.data(), (width + Job::kWide - 1) / Job::kWide,
      in_vectors};
  each(launch, runs * job.vectors, Job::kRun, gpu::EmbeddingRunItem<T>{job});
  if (runs > 1) each(launch, runs * width, 1, gpu::EmbeddingJoinItem<T>{job});
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_EMBEDDING_GRADIENT_H_
