// CPU: softmax vectorized across rows, for rows that are interleaved in memory, or so short that a
// horizontal sum would dominate: those are transposed on the way.
#ifndef DL_KERNELS_CPU_SOFTMAX_COLUMNS_H_
#define DL_KERNELS_CPU_SOFTMAX_COLUMNS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/transpose.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace detail {

inline constexpr int64_t kSoftmaxColumns = 32;  // rows at once
inline constexpr int64_t kShortSoftmax = 64;    // maximum length of a row that is transposed

// Softmax of `width` rows; the elements of a row have strides `to` and `from`.
template <class T, class O, bool Log>
__attribute__((noinline)) void softmax_columns(int64_t n, O* out, int64_t to, const T* in,
                                               int64_t from, int64_t width) {
  using C = compute_t<T>;
  alignas(64) C row_max[kSoftmaxColumns], normalizer[kSoftmaxColumns];
  for (int64_t j = 0; j < width; ++j) {
    row_max[j] = lowest<C>();
    normalizer[j] = 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* x = in + i * from;
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) row_max[j] = max_nan(row_max[j], cast<C>(x[j]));
  }
  // An output of the compute type stores the exponentials in the first pass.
  constexpr bool kKept = !Log && std::is_same_v<O, C>;
  for (int64_t i = 0; i < n; ++i) {
    const T* x = in + i * from;
    O* y = out + i * to;
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      const C exponential = math::exp_of_negative(cast<C>(x[j]) - row_max[j]);
      normalizer[j] += exponential;
      if constexpr (kKept) y[j] = exponential;
    }
  }
  DL_VECTOR_LOOP
  for (int64_t j = 0; j < width; ++j)
    normalizer[j] = Log ? math::log(normalizer[j]) : C(1) / normalizer[j];
  for (int64_t i = 0; i < n; ++i) {
    const T* x = in + i * from;
    O* y = out + i * to;
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      if constexpr (kKept) {
        y[j] *= normalizer[j];
      } else {
        const C shifted = cast<C>(x[j]) - row_max[j];
        y[j] =
            cast<O>(Log ? shifted - normalizer[j] : math::exp_of_negative(shifted) * normalizer[j]);
      }
    }
  }
}

template <class T, class I, bool Log>
__attribute__((noinline)) void softmax_backward_columns(int64_t n, I* grad_input, int64_t to,
                                                        const T* grad_output, int64_t a,
                                                        const T* output, int64_t b, int64_t width) {
  using C = compute_t<T>;
  alignas(64) C total[kSoftmaxColumns] = {};
  for (int64_t i = 0; i < n; ++i) {
    const T* go = grad_output + i * a;
    const T* y = output + i * b;
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j)
      total[j] += Log ? cast<C>(go[j]) : cast<C>(go[j]) * cast<C>(y[j]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const T* go = grad_output + i * a;
    const T* y = output + i * b;
    I* gi = grad_input + i * to;
    DL_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      gi[j] = cast<I>(Log ? cast<C>(go[j]) - math::exp(cast<C>(y[j])) * total[j]
                          : (cast<C>(go[j]) - total[j]) * cast<C>(y[j]));
    }
  }
}

enum class Across { no, in_place, transposed };

// Arrangement of all tensors' rows across the lanes.
template <int N>
Across rows_across(const DimPlan<N>& plan) {
  const int inner = plan.rows.ndim - 1;
  if (plan.rows.shape[inner] < 8) return Across::no;
  bool adjacent = true, dense = plan.n <= kShortSoftmax;
  for (int k = 0; k < N; ++k) {
    adjacent = adjacent && plan.rows.strides[k][inner] == 1 && plan.step[k] != 1;
    dense = dense && plan.step[k] == 1 && plan.rows.strides[k][inner] != 1;
  }
  return adjacent ? Across::in_place : dense ? Across::transposed : Across::no;
}

// Call run(offsets, width) for every group of adjacent rows.
template <int N, class Run>
void for_columns(const Launch& launch, const DimPlan<N>& plan, const Run& run) {
  const int64_t adjacent = plan.rows.shape[plan.rows.ndim - 1];
  const int64_t pieces = (adjacent + kSoftmaxColumns - 1) / kSoftmaxColumns;
  const int64_t tasks = plan.rows.numel / adjacent * pieces;
  launch.parallel_for(tasks, grain_for(plan.n * kSoftmaxColumns * 4),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t task = begin; task < end; ++task) {
                          const int64_t first = task % pieces * kSoftmaxColumns;
                          const int64_t left = adjacent - first;
                          int64_t offsets[N];
                          offsets_of(plan.rows, task / pieces * adjacent + first, offsets);
                          run(offsets, left < kSoftmaxColumns ? left : kSoftmaxColumns);
                        }
                      });
}

// A group of rows across the lanes, transposed if necessary.
template <class T>
class ShortRows {
 public:
  // Not inlined: compilers cannot prove that all elements read were written.
  __attribute__((noinline)) const T* read(const T* rows, int64_t row_step, int64_t n,
                                          int64_t width) {
    transpose_tile(sizeof(T), data_, kSoftmaxColumns, rows, row_step, n, width);
    return data_;
  }
  T* data() { return data_; }
  void write(T* rows, int64_t row_step, int64_t n, int64_t width) const {
    transpose_tile(sizeof(T), rows, row_step, data_, kSoftmaxColumns, width, n);
  }

 private:
  alignas(64) T data_[kShortSoftmax * kSoftmaxColumns];
};

}  // namespace detail

// Return false, with nothing done, if processing rows one by one is faster.
template <class T, class O, bool Log>
[[nodiscard]] bool softmax_by_columns(const Launch& launch, const DimPlan<2>& plan, O* out,
                                      const T* in) {
  using namespace detail;
  const Across across = rows_across(plan);
  if (across == Across::no) return false;
  const int64_t n = plan.n;
  const auto& steps = plan.rows.strides;
  const int inner = plan.rows.ndim - 1;
  for_columns(launch, plan, [&](const int64_t* at, int64_t width) {
    if (across == Across::in_place) {
      softmax_columns<T, O, Log>(n, out + at[0], plan.step[0], in + at[1], plan.step[1], width);
      return;
    }
    ShortRows<T> x;
    ShortRows<O> y;
    softmax_columns<T, O, Log>(n, y.data(), kSoftmaxColumns,
                               x.read(in + at[1], steps[1][inner], n, width), kSoftmaxColumns,
                               width);
    y.write(out + at[0], steps[0][inner], n, width);
  });
  return true;
}

// The same for the gradients of softmax and log-softmax.
template <class T, class I, bool Log>
[[nodiscard]] bool softmax_backward_by_columns(const Launch& launch, const DimPlan<3>& plan,
                                               I* grad_input, const T* grad_output,
                                               const T* output) {
  using namespace detail;
  const Across across = rows_across(plan);
  if (across == Across::no) return false;
  const int64_t n = plan.n;
  const auto& steps = plan.rows.strides;
  const int inner = plan.rows.ndim - 1;
  for_columns(launch, plan, [&](const int64_t* at, int64_t width) {
    if (across == Across::in_place) {
      softmax_backward_columns<T, I, Log>(n, grad_input + at[0], plan.step[0], grad_output + at[1],
                                          plan.step[1], output + at[2], plan.step[2], width);
      return;
    }
    ShortRows<T> go, y;
    ShortRows<I> gi;
    softmax_backward_columns<T, I, Log>(
        n, gi.data(), kSoftmaxColumns, go.read(grad_output + at[1], steps[1][inner], n, width),
        kSoftmaxColumns, y.read(output + at[2], steps[2][inner], n, width), kSoftmaxColumns, width);
    gi.write(grad_input + at[0], steps[0][inner], n, width);
  });
  return true;
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SOFTMAX_COLUMNS_H_
