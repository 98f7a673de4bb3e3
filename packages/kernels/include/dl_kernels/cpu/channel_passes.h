// CPU: reductions over rows of adjacent channels; sums are kept for a group of columns at a time.
#ifndef DL_KERNELS_CPU_CHANNEL_PASSES_H_
#define DL_KERNELS_CPU_CHANNEL_PASSES_H_

#include <cstdint>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/cpu/block.h"
#include "dl_kernels/cpu/launch.h"
#include "dl_kernels/norm/channels.h"
#include "dl_kernels/parallel/elements.h"

DL_KERNELS_BEGIN

namespace detail {

// Value of f for the element at `i`, of channel `c`.
struct ElementTerm {
  int64_t i, c;
  template <class F, class... Arrays>
  DL_FN auto operator()(const F& f, Arrays... arrays) const {
    return f(PassingElement<Arrays>(arrays, i).value..., c);
  }
};

struct ElementPass {
  int64_t i, c;
  template <class F, class... Arrays>
  DL_FN void operator()(const F& f, Arrays... arrays) const {
    const int64_t channel = c;
    pass<Arrays...>([&f, channel](auto&... values) { f(values..., channel); },
                    PassingElement<Arrays>(arrays, i)..., i, arrays...);
  }
};

}  // namespace detail

template <class C, class F>
void channel_sums(const Launch& launch, const ChannelShape& shape, double* first, double* second,
                  const F& f) {
  constexpr int64_t kRows = 256;  // rows whose sums are kept in C
  constexpr int64_t kWidth = 64;
  const int64_t rows = shape.samples, columns = shape.channels;
  int64_t pieces = rows * columns / (int64_t(1) << 15);
  pieces = pieces < 1 ? 1 : pieces > 32 ? 32 : pieces;
  const int64_t piece = (rows + pieces - 1) / pieces;
  const Workspace<double> parts(launch, pieces * 2 * columns);
  launch.parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      double* part = parts.data() + k * 2 * columns;
      for (int64_t i = 0; i < 2 * columns; ++i) part[i] = 0;
      const int64_t stop = (k + 1) * piece < rows ? (k + 1) * piece : rows;
      for (int64_t start = k * piece; start < stop; start += kRows) {
        const int64_t last = start + kRows < stop ? start + kRows : stop;
        for (int64_t c0 = 0; c0 < columns; c0 += kWidth) {
          const int64_t width = columns - c0 < kWidth ? columns - c0 : kWidth;
          alignas(64) C a[kWidth] = {}, b[kWidth] = {};
          for (int64_t row = start; row < last; ++row) {
            DL_VECTOR_LOOP
            for (int64_t j = 0; j < width; ++j) {
              const Pair<C> both = f.over(detail::ElementTerm{row * columns + c0 + j, c0 + j});
              a[j] += both.first;
              b[j] += both.second;
            }
          }
          for (int64_t j = 0; j < width; ++j) {
            part[c0 + j] += static_cast<double>(a[j]);
            part[columns + c0 + j] += static_cast<double>(b[j]);
          }
        }
      }
    }
  });
  for (int64_t c = 0; c < columns; ++c) {
    first[c] = second[c] = 0;
    for (int64_t k = 0; k < pieces; ++k) {
      first[c] += parts.data()[k * 2 * columns + c];
      second[c] += parts.data()[k * 2 * columns + columns + c];
    }
  }
}

template <class F>
void each_in_channels(const Launch& launch, const ChannelShape& shape, const F& f) {
  const int64_t n = shape.channels;
  rows(launch, shape.samples, n, [&](const Block& block, int64_t row) {
    const F own = f;
    block.map(n, [=](int64_t c) { own.over(detail::ElementPass{row * n + c, c}); });
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_CHANNEL_PASSES_H_
