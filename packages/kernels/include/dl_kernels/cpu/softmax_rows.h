// CPU: softmax of rows, by columns where that is faster and one by one elsewhere.
#ifndef DL_KERNELS_CPU_SOFTMAX_ROWS_H_
#define DL_KERNELS_CPU_SOFTMAX_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/cpu/softmax_columns.h"
#include "dl_kernels/layout/broadcast.h"
#include "dl_kernels/layout/dim_plan.h"
#include "dl_kernels/math/vector_math.h"

DL_KERNELS_BEGIN

namespace detail {

// Strided or half-precision rows pass through a buffer of the compute type, so that the three
// passes over the row convert and gather once. The input has type T and the output type O, which
// may be the compute type of half precision.
template <class T, class O, bool Log>
struct SoftmaxRow {
  using C = compute_t<T>;
  O* out;
  const T* in;
  Held<DimPlan<2>> plan;

  // `y` may be `x`.
  template <class B>
  DL_FN static void compute(const B& block, int64_t n, C* y, const C* x) {
    const C row_max = block.reduce(n, lowest<C>(), MaxOrNan{}, [x](int64_t i) { return x[i]; });
    if constexpr (Log) {
      const C normalizer =
          block.sum(n, [=](int64_t i) { return math::exp_of_negative(x[i] - row_max); });
      const C shift = math::log(normalizer);
      block.map(n, [=](int64_t i) { y[i] = (x[i] - row_max) - shift; });
    } else {
      const C normalizer =
          block.sum(n, [=](int64_t i) { return y[i] = math::exp_of_negative(x[i] - row_max); });
      const C scale = C(1) / normalizer;
      block.map(n, [=](int64_t i) { y[i] *= scale; });
    }
  }

  template <class B>
  DL_FN void operator()(const B& block, int64_t row, C* buffer) const {
    int64_t offsets[2];
    offsets_of(plan->rows, row, offsets);
    const int64_t n = plan->n, to = plan->step[0], from = plan->step[1];
    O* y = out + offsets[0];
    const T* x = in + offsets[1];
    if constexpr (std::is_same_v<T, C>) {
      if (to == 1 && from == 1) {
        compute(block, n, y, x);
        return;
      }
    }
    block.map(n, [=](int64_t i) { buffer[i] = cast<C>(x[i * from]); });
    compute(block, n, buffer, buffer);
    block.map(n, [=](int64_t i) { y[i * to] = cast<O>(buffer[i]); });
  }
};

// I is the type of the input gradient; it may be half precision when the other tensors have its
// compute type.
template <class T, class I, bool Log>
struct SoftmaxBackwardRow {
  using C = compute_t<T>;
  I* grad_input;
  const T* grad_output;
  const T* output;
  Held<DimPlan<3>> plan;

  template <class B>
  DL_FN static void compute(const B& block, int64_t n, I* gi, const T* go, const T* y, int64_t to,
                            int64_t a, int64_t b) {
    if constexpr (Log) {
      const C total = block.sum(n, [=](int64_t i) { return cast<C>(go[i * a]); });
      block.map(n, [=](int64_t i) {
        gi[i * to] = cast<I>(cast<C>(go[i * a]) - math::exp(cast<C>(y[i * b])) * total);
      });
    } else {
      const C total =
          block.sum(n, [=](int64_t i) { return cast<C>(go[i * a]) * cast<C>(y[i * b]); });
      block.map(n, [=](int64_t i) {
        gi[i * to] = cast<I>((cast<C>(go[i * a]) - total) * cast<C>(y[i * b]));
      });
    }
  }

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    int64_t offsets[3];
    offsets_of(plan->rows, row, offsets);
    I* gi = grad_input + offsets[0];
    const T* go = grad_output + offsets[1];
    const T* y = output + offsets[2];
    if (plan->step[0] == 1 && plan->step[1] == 1 && plan->step[2] == 1) {
      compute(block, plan->n, gi, go, y, 1, 1, 1);
    } else {
      compute(block, plan->n, gi, go, y, plan->step[0], plan->step[1], plan->step[2]);
    }
  }
};

}  // namespace detail

template <class T, class O, bool Log>
void softmax_rows(const Launch& launch, const DimPlan<2>& plan, O* out, const T* in) {
  if (softmax_by_columns<T, O, Log>(launch, plan, out, in)) return;
  const detail::SoftmaxRow<T, O, Log> kernel{out, in, &plan};
  rows_with_buffer<compute_t<T>>(launch, plan.rows.numel, plan.n * 4, plan.n, kernel);
}

template <class T, class I, bool Log>
void softmax_backward_rows(const Launch& launch, const DimPlan<3>& plan, I* grad_input,
                           const T* grad_output, const T* output) {
  if (softmax_backward_by_columns<T, I, Log>(launch, plan, grad_input, grad_output, output)) return;
  const detail::SoftmaxBackwardRow<T, I, Log> kernel{grad_input, grad_output, output, &plan};
  rows(launch, plan.rows.numel, plan.n * 2, kernel);
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_SOFTMAX_ROWS_H_
