// Matrix products of a deformable convolution and of its gradients.
#ifndef DL_KERNELS_CONV_DEFORMABLE_CALLS_H_
#define DL_KERNELS_CONV_DEFORMABLE_CALLS_H_

#include <algorithm>
#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/conv/deformable_columns.h"
#include "dl_kernels/conv/deformable_scatter.h"
#include "dl_kernels/matrix/matrix_calls.h"

DL_KERNELS_BEGIN

namespace detail {

// c = alpha · a · b + beta · c, by the vendor's library if it supports the call.
template <class C>
void multiply(const Launch& launch, int64_t m, int64_t n, int64_t k, C alpha, Matrix<const C> a,
              Matrix<const C> b, C beta, Matrix<C> c) {
  if (m == 0 || n == 0) return;
  if (by_library(launch, {dtype_of<C>(),
                          dtype_of<C>(),
                          1,
                          m,
                          n,
                          k,
                          static_cast<double>(alpha),
                          static_cast<double>(beta),
                          {a.data, 0, a.row, a.column},
                          {b.data, 0, b.row, b.column},
                          {c.data, 0, c.row, c.column},
                          nullptr}))
    return;
  gemm<C>(launch, m, n, k, alpha, a, b, beta, c);
}

// Call f(sample, first position, count) for parts of all images whose columns fit into `columns`.
template <class C, class F>
void each_part(const Launch& launch, const DeformableShape& shape, Workspace<C>& columns,
               const F& f) {
  // Enough for efficient products; on a CPU, these columns fit into the caches.
  constexpr int64_t kElements = std::max(kScratchElements, int64_t(1) << 21);
  const int64_t lines = std::max<int64_t>(shape.lines(), 1), positions = shape.positions();
  const int64_t step = std::min(std::max<int64_t>(kElements / lines, 1), positions);
  columns.reserve(launch, lines * step);
  for (int64_t n = 0; n < shape.samples; ++n) {
    for (int64_t first = 0; first < positions; first += step)
      f(n, first, std::min(step, positions - first));
  }
}

template <class C>
struct FillPlane {
  C* out;
  const C* values;
  int64_t planes, cells;
  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    C* const to = out + row * cells;
    const C value = values[row % planes];
    block.map(cells, [=](int64_t i) { to[i] = value; });
  }
};

// Add the sums of planes [samples, filters, positions] over samples and positions.
template <class C>
struct AddPlaneSums {
  C* sums;
  const C* planes;
  int64_t samples, filters, positions;
  template <class B>
  DL_FN void operator()(const B& block, int64_t filter) const {
    double total = static_cast<double>(sums[filter]);
    for (int64_t n = 0; n < samples; ++n) {
      const C* const plane = planes + (n * filters + filter) * positions;
      total += static_cast<double>(block.sum(positions, [plane](int64_t i) { return plane[i]; }));
    }
    sums[filter] = static_cast<C>(total);
  }
};

}  // namespace detail

// The tensors of a call as contiguous arrays; absent ones are null.
template <class C>
struct DeformableArrays {
  const C *input, *weight, *offset, *mask;

  DeformableSamples<C> samples_of(const DeformableShape& shape, int64_t sample) const {
    const int64_t size = shape.deformable_groups * shape.window() * shape.positions();
    return {shape, offset + sample * 2 * size, mask == nullptr ? nullptr : mask + sample * size};
  }
  const C* image_of(const DeformableShape& shape, int64_t sample) const {
    return input + sample * shape.channels * shape.cells();
  }
};

// out = weight · columns + bias; `bias` may be null.
template <class C>
void deformed_products(const Launch& launch, const DeformableShape& shape,
                       const DeformableArrays<C>& from, const C* bias, C* out) {
  const int64_t positions = shape.positions(), filters = shape.group_filters();
  const int64_t taps = shape.taps();
  if (bias != nullptr) {
    mapped_rows(launch, shape.samples * shape.filters, positions, positions,
                detail::FillPlane<C>{out, bias, shape.filters, positions});
  }
  Workspace<C> columns;
  detail::each_part(launch, shape, columns, [&](int64_t n, int64_t first, int64_t count) {
    deformable_columns(launch, from.samples_of(shape, n), from.image_of(shape, n), first, count,
                       columns.data());
    for (int64_t g = 0; g < shape.groups; ++g) {
      detail::multiply<C>(
          launch, filters, count, taps, C(1), {from.weight + g * filters * taps, taps, 1},
          {columns.data() + g * taps * count, count, 1}, bias == nullptr ? C(0) : C(1),
          {out + (n * shape.groups + g) * filters * positions + first, positions, 1});
    }
  });
}

// Accumulate the requested gradients; those that are not requested are null.
template <class C>
struct DeformableGradients {
  C *input, *weight, *offset, *mask;
  C scale;  // factor of the weight's gradient
};

template <class C>
void add_gradients(const Launch& launch, const DeformableShape& shape,
                   const DeformableArrays<C>& from, const C* grad_output,
                   const DeformableGradients<C>& to) {
  const int64_t positions = shape.positions(), filters = shape.group_filters();
  const int64_t taps = shape.taps(), image = shape.channels * shape.cells();
  const int64_t shares = shape.deformable_groups * shape.window() * positions;
  Workspace<C> columns;
  detail::each_part(launch, shape, columns, [&](int64_t n, int64_t first, int64_t count) {
    const DeformableSamples<C> samples = from.samples_of(shape, n);
    const auto grads_of = [&](int64_t g) {
      return grad_output + (n * shape.groups + g) * filters * positions + first;
    };
    if (to.input != nullptr) {
      for (int64_t g = 0; g < shape.groups; ++g) {
        detail::multiply<C>(
            launch, taps, count, filters, C(1), {from.weight + g * filters * taps, 1, taps},
            {grads_of(g), positions, 1}, C(0), {columns.data() + g * taps * count, count, 1});
      }
      deformable_offset_gradient(launch, samples, from.image_of(shape, n), first, count,
                                 columns.data(), to.offset + n * 2 * shares,
                                 to.mask == nullptr ? nullptr : to.mask + n * shares);
      deformable_scatter(launch, samples, columns.data(), first, count, to.input + n * image);
    }
    if (to.weight == nullptr) return;
    deformable_columns(launch, samples, from.image_of(shape, n), first, count, columns.data());
    for (int64_t g = 0; g < shape.groups; ++g) {
      detail::multiply<C>(launch, filters, taps, count, to.scale, {grads_of(g), positions, 1},
                          {columns.data() + g * taps * count, 1, count}, C(1),
                          {to.weight + g * filters * taps, taps, 1});
    }
  });
}

// Add the sums of a gradient over samples and positions.
template <class C>
void add_bias_gradient(const Launch& launch, const DeformableShape& shape, const C* grad_output,
                       C* to) {
  rows(launch, shape.filters, shape.samples * shape.positions(),
       detail::AddPlaneSums<C>{to, grad_output, shape.samples, shape.filters, shape.positions()});
}

DL_KERNELS_END

#endif  // DL_KERNELS_CONV_DEFORMABLE_CALLS_H_
