// GPU: every channel is summed up by several threads or blocks, and their sums by one block.
#ifndef DL_KERNELS_GPU_CHANNEL_PASSES_H_
#define DL_KERNELS_GPU_CHANNEL_PASSES_H_

#include <cstdint>

#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/norm/channels.h"

DL_KERNELS_BEGIN

namespace gpu {

// Where channels are neighbours. Item k · channels + c takes every pieces-th sample of channel c
// from the k-th on: neighbouring threads read neighbouring elements, however few channels there
// are.
template <class C, class F>
struct ChannelPieceItem {
  Pair<double>* parts;
  ChannelShape shape;
  int64_t pieces;
  F f;

  DL_DEVICE void operator()(int64_t item) const {
    constexpr int64_t kPiece = 64;  // elements whose sums are kept in C
    const int64_t c = remainder_of(item, shape.channels), step = pieces * shape.channels;
    const int64_t end = shape.samples * shape.channels;
    Pair<double> total{0, 0};
    for (int64_t i = item; i < end;) {
      Pair<C> piece{0, 0};
      const int64_t stop = i + kPiece * step < end ? i + kPiece * step : end;
      for (; i < stop; i += step) {
        const Pair<C> both = f(i, c);
        piece.first += both.first;
        piece.second += both.second;
      }
      total.first += static_cast<double>(piece.first);
      total.second += static_cast<double>(piece.second);
    }
    parts[item] = total;
  }
};

// Where the positions of a sample are neighbours. Row k · channels + c is piece k of channel c.
template <class F>
struct ChannelPieceRow {
  Pair<double>* parts;
  ChannelShape shape;
  int64_t piece;  // elements in one
  F f;

  DL_DEVICE void operator()(const Block& block, int64_t row) const {
    const int64_t k = quotient_of(row, shape.channels), c = row - k * shape.channels;
    const int64_t first = k * piece;
    const int64_t left = shape.count() - first, positions = shape.positions;
    const int64_t channels = shape.channels;
    const F own = f;
    const Pair<double> total = block.sum_pair(left < piece ? left : piece, [=](int64_t i) {
      const int64_t sample = quotient_of(first + i, positions);
      const int64_t position = first + i - sample * positions;
      return own((sample * channels + c) * positions + position, c);
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

template <class F>
struct ChannelItem {
  ChannelShape shape;
  F f;

  DL_DEVICE void operator()(int64_t i) const {
    f(i, remainder_of(quotient_of(i, shape.positions), shape.channels));
  }
};

}  // namespace gpu

template <class C, class F>
void channel_sums(const Launch& launch, const ChannelShape& shape, double* first, double* second,
                  const F& f) {
  const int64_t channels = shape.channels;
  if (channels == 0) return;
  // Enough threads or blocks for a GPU, each with enough to do.
  const bool neighbours = shape.positions == 1;
  const int64_t least = neighbours ? 16 : 4096, wanted = neighbours ? 1 << 17 : 1 << 10;
  const int64_t possible = (shape.count() + least - 1) / least;
  int64_t pieces = (wanted + channels - 1) / channels;
  if (pieces > possible) pieces = possible < 1 ? 1 : possible;
  const int64_t piece = (shape.count() + pieces - 1) / pieces;
  const Workspace<Pair<double>> parts(launch, pieces * channels);
  if (neighbours) {
    each(launch, pieces * channels, piece,
         gpu::ChannelPieceItem<C, F>{parts.data(), shape, pieces, f});
  } else {
    rows(launch, pieces * channels, piece, gpu::ChannelPieceRow<F>{parts.data(), shape, piece, f});
  }
  rows(launch, channels, pieces,
       gpu::ChannelPartsRow{first, second, parts.data(), channels, pieces});
}

template <class F>
void each_in_channels(const Launch& launch, const ChannelShape& shape, const F& f) {
  each(launch, shape.count() * shape.channels, 1, gpu::ChannelItem<F>{shape, f});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CHANNEL_PASSES_H_
