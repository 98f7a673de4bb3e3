// GPU: every channel is summed by several threads or blocks, whose sums one block combines. Loads
// and stores are vectorized if vectors do not cross channel boundaries.
#ifndef DL_KERNELS_GPU_CHANNEL_PASSES_H_
#define DL_KERNELS_GPU_CHANNEL_PASSES_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/norm/channels.h"
#include "dl_kernels/parallel/elements.h"

DL_KERNELS_BEGIN

namespace gpu {

// Vectors of kW elements at the same alignment in all arrays: adjacent elements of one channel or,
// for channels-last layouts, of kW channels.
template <int kW>
struct ChannelVectors {
  int64_t samples, channels, positions;
  bool adjacent_channels;

  explicit ChannelVectors(const ChannelShape& shape)
      : samples(shape.samples),
        channels(shape.positions == 1 ? shape.channels / kW : shape.channels),
        positions(shape.positions == 1 ? 1 : shape.positions / kW),
        adjacent_channels(shape.positions == 1) {}

  DL_DEVICE int64_t count() const { return samples * positions; }  // of a channel
  DL_DEVICE int64_t first_channel(int64_t channel) const {
    return adjacent_channels ? channel * kW : channel;
  }
  DL_DEVICE int step() const { return adjacent_channels ? 1 : 0; }
};

template <int kW>
struct AreVectors {
  ChannelShape shape;
  template <class F, class... Arrays>
  DL_FN bool operator()(const F&, Arrays... arrays) const {
    const int64_t together = shape.positions == 1 ? shape.channels : shape.positions;
    return together % kW == 0 && have_vectors(kW, 0, arrays...);
  }
};

// Values of f for the elements of the vector that begins at `first`, whose channels are c, c +
// step…
template <class C, int kW>
struct VectorTerms {
  int64_t first, c;
  int step;
  Pair<C>* to;

  template <class F, class... Arrays>
  DL_DEVICE void operator()(const F& f, Arrays... arrays) const {
    take<F, Arrays...>(f, PassingElements<Arrays, kW>{}..., arrays...);
  }

 private:
  template <class F, class... Arrays>
  DL_DEVICE void take(const F& f, PassingElements<Arrays, kW>... elements, Arrays... arrays) const {
    (elements.load(arrays, first, 0), ...);
    DL_UNROLL
    for (int j = 0; j < kW; ++j) to[j] = f(elements.values[j]..., c + j * step);
  }
};

template <int kW>
struct VectorPass {
  int64_t first, c;
  int step;

  template <class F, class... Arrays>
  DL_DEVICE void operator()(const F& f, Arrays... arrays) const {
    take<F, Arrays...>(f, PassingElements<Arrays, kW>{}..., arrays...);
  }

 private:
  template <class F, class... Arrays>
  DL_DEVICE void take(const F& f, PassingElements<Arrays, kW>... elements, Arrays... arrays) const {
    (elements.load(arrays, first, 0), ...);
    DL_UNROLL
    for (int j = 0; j < kW; ++j) f(elements.values[j]..., c + j * step);
    (elements.store(arrays, first, 0), ...);
  }
};

// For channels-last layouts. Item k · channels + c processes the channels of vector c in every
// pieces-th sample from sample k on, so adjacent threads read adjacent elements even with few
// channels.
template <int kW, class C, class F>
struct ChannelPieceItem {
  Pair<double>* parts;
  ChannelVectors<kW> vectors;
  int64_t pieces;
  F f;

  DL_DEVICE void operator()(int64_t item) const {
    constexpr int64_t kPiece = 64;  // elements whose sums are kept in C
    const int64_t c = remainder_of(item, vectors.channels), step = pieces * vectors.channels;
    const int64_t end = vectors.samples * vectors.channels;
    Pair<double> total[kW] = {};
    for (int64_t i = item; i < end;) {
      Pair<C> piece[kW] = {};
      const int64_t stop = i + kPiece * step < end ? i + kPiece * step : end;
      for (; i < stop; i += step) {
        Pair<C> terms[kW];
        f.over(VectorTerms<C, kW>{i * kW, c * kW, 1, terms});
        DL_UNROLL
        for (int j = 0; j < kW; ++j) {
          piece[j].first += terms[j].first;
          piece[j].second += terms[j].second;
        }
      }
      DL_UNROLL
      for (int j = 0; j < kW; ++j) {
        total[j].first += static_cast<double>(piece[j].first);
        total[j].second += static_cast<double>(piece[j].second);
      }
    }
    DL_UNROLL
    for (int j = 0; j < kW; ++j) parts[item * kW + j] = total[j];
  }
};

// For layouts in which the positions of a sample are adjacent. Row k · channels + c is piece k of
// channel c.
template <int kW, class C, class F>
struct ChannelPieceRow {
  Pair<double>* parts;
  ChannelVectors<kW> vectors;
  int64_t piece;  // vectors per piece
  F f;

  DL_DEVICE void operator()(const Block& block, int64_t row) const {
    const int64_t channels = vectors.channels, positions = vectors.positions;
    const int64_t k = quotient_of(row, channels), c = row - k * channels;
    const int64_t first = k * piece, left = vectors.count() - first;
    const F own = f;
    const Pair<double> total = block.sum_pair(left < piece ? left : piece, [=](int64_t i) {
      const int64_t sample = quotient_of(first + i, positions);
      const int64_t position = first + i - sample * positions;
      Pair<C> terms[kW];
      own.over(
          VectorTerms<C, kW>{((sample * channels + c) * positions + position) * kW, c, 0, terms});
      DL_UNROLL
      for (int width = kW / 2; width > 0; width /= 2) {
        DL_UNROLL
        for (int j = 0; j < width; ++j) {
          terms[j].first += terms[j + width].first;
          terms[j].second += terms[j + width].second;
        }
      }
      return terms[0];
    });
    Pair<double>* to = parts + row;
    block.map(1, [=](int64_t) { *to = total; });
  }
};

struct ChannelPartsRow {
  double* first;
  double* second;
  const Pair<double>* parts;
  int64_t channels, pieces;

  DL_DEVICE void operator()(const Block& block, int64_t c) const {
    const Pair<double>* from = parts + c;
    const int64_t step = channels;
    const Pair<double> total = block.sum_pair(pieces, [=](int64_t k) { return from[k * step]; });
    double* a = first + c;
    double* b = second + c;
    block.map(1, [=](int64_t) {
      *a = total.first;
      *b = total.second;
    });
  }
};

template <int kW, class F>
struct ChannelItem {
  ChannelVectors<kW> vectors;
  F f;

  DL_DEVICE void operator()(int64_t i) const {
    const int64_t plane = quotient_of(i, vectors.positions);
    const int64_t c = remainder_of(plane, vectors.channels);
    f.over(VectorPass<kW>{i * kW, vectors.first_channel(c), vectors.step()});
  }
};

// Vector width common to all arrays of a function.
struct WidthOf {
  template <class F, class... Arrays>
  DL_FN auto operator()(const F&, Arrays...) const {
    return std::integral_constant<int, elements_in_access<Arrays...>()>();
  }
};
template <class F>
inline constexpr int kWidthOver = decltype(std::declval<const F&>().over(WidthOf{}))::value;

template <int kW, class C, class F>
void sum_channels(const Launch& launch, const ChannelShape& shape, double* first, double* second,
                  const F& f) {
  // Enough threads or blocks for a GPU, each with enough work.
  const ChannelVectors<kW> vectors(shape);
  const int64_t channels = vectors.channels, count = shape.samples * vectors.positions;
  const int64_t least = vectors.adjacent_channels ? 16 : 4096 / kW;
  const int64_t wanted = vectors.adjacent_channels ? (1 << 17) / (kW > 1 ? 4 : 1) : 1 << 10;
  const int64_t possible = (count + least - 1) / least;
  int64_t pieces = (wanted + channels - 1) / channels;
  if (pieces > possible) pieces = possible < 1 ? 1 : possible;
  const int64_t piece = (count + pieces - 1) / pieces;
  const Workspace<Pair<double>> parts(launch, pieces * shape.channels);
  if (vectors.adjacent_channels) {
    each(launch, pieces * channels, piece,
         ChannelPieceItem<kW, C, F>{parts.data(), vectors, pieces, f});
  } else {
    rows(launch, pieces * channels, piece * kW,
         ChannelPieceRow<kW, C, F>{parts.data(), vectors, piece, f});
  }
  rows(launch, shape.channels, pieces,
       ChannelPartsRow{first, second, parts.data(), shape.channels, pieces});
}

}  // namespace gpu

template <class C, class F>
void channel_sums(const Launch& launch, const ChannelShape& shape, double* first, double* second,
                  const F& f) {
  constexpr int kW = gpu::kWidthOver<F>;
  if (shape.channels == 0) return;
  if (f.over(gpu::AreVectors<kW>{shape})) {
    gpu::sum_channels<kW, C>(launch, shape, first, second, f);
  } else {
    gpu::sum_channels<1, C>(launch, shape, first, second, f);
  }
}

template <class F>
void each_in_channels(const Launch& launch, const ChannelShape& shape, const F& f) {
  constexpr int kW = gpu::kWidthOver<F>;
  const int64_t count = shape.count() * shape.channels;
  if (f.over(gpu::AreVectors<kW>{shape})) {
    each(launch, count / kW, 1, gpu::ChannelItem<kW, F>{gpu::ChannelVectors<kW>(shape), f});
  } else {
    each(launch, count, 1, gpu::ChannelItem<1, F>{gpu::ChannelVectors<1>(shape), f});
  }
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CHANNEL_PASSES_H_
