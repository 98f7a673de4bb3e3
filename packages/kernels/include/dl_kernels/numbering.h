// Numbers for marked positions, as running counts.
//
//   number_marked(launch, n, marked, put)
//       calls put(i, k, marked(i)) for every i in [0, n), where k of the positions 0 … i are
//       marked; gives how many there are in all, for which it waits. Functors without references.
#ifndef DL_KERNELS_NUMBERING_H_
#define DL_KERNELS_NUMBERING_H_

#include <cstdint>

#include "dl_kernels/block.h"
#include "dl_kernels/config.h"
#include "dl_kernels/launch.h"

DL_KERNELS_BEGIN

#if DL_KERNELS_GPU

namespace gpu {

inline constexpr int64_t kNumberedPiece = 4096;

// Counts of the pieces of kNumberedPiece positions.
template <class Marked>
struct CountPiece {
  Marked marked;
  int64_t n;
  int64_t* counts;

  template <class B>
  DL_FN void operator()(const B& block, int64_t piece) const {
    const int64_t first = piece * kNumberedPiece, left = n - first;
    const Marked& is_marked = marked;
    const int64_t count = block.sum(
        left < kNumberedPiece ? left : kNumberedPiece,
        [&is_marked, first](int64_t i) { return static_cast<int64_t>(is_marked(first + i)); });
    int64_t* to = counts + piece;
    block.map(1, [=](int64_t) { *to = count; });
  }
};

struct AddUpPieces {
  int64_t* counts;
  int64_t pieces;

  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    int64_t* all = counts;
    block.template scan<int64_t>(
        pieces, [=](int64_t i) { return all[i]; }, [](int64_t a, int64_t b) { return a + b; },
        [=](int64_t i, int64_t total) { all[i] = total; });
  }
};

template <class Marked, class Put>
struct NumberPiece {
  Marked marked;
  Put put;
  int64_t n;
  const int64_t* ends;

  template <class B>
  DL_FN void operator()(const B& block, int64_t piece) const {
    const int64_t first = piece * kNumberedPiece, left = n - first;
    const int64_t before = piece == 0 ? 0 : ends[piece - 1];
    const Marked& is_marked = marked;
    const Put& put_number = put;
    block.template scan<int64_t>(
        left < kNumberedPiece ? left : kNumberedPiece,
        [&is_marked, first](int64_t i) { return static_cast<int64_t>(is_marked(first + i)); },
        [](int64_t a, int64_t b) { return a + b; },
        [&is_marked, &put_number, first, before](int64_t i, int64_t k) {
          put_number(first + i, before + k, is_marked(first + i));
        });
  }
};

}  // namespace gpu

template <class Marked, class Put>
int64_t number_marked(const Launch& launch, int64_t n, const Marked& marked, const Put& put) {
  if (n == 0) return 0;
  const int64_t pieces = (n + gpu::kNumberedPiece - 1) / gpu::kNumberedPiece;
  const Workspace<int64_t> ends(launch, pieces);
  rows(launch, pieces, n, gpu::CountPiece<Marked>{marked, n, ends.data()});
  rows(launch, 1, pieces, gpu::AddUpPieces{ends.data(), pieces});
  rows(launch, pieces, n, gpu::NumberPiece<Marked, Put>{marked, put, n, ends.data()});
  return fetch(launch, ends.data() + pieces - 1);
}

#else

template <class Marked, class Put>
int64_t number_marked(const Launch&, int64_t n, const Marked& marked, const Put& put) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool is_marked = marked(i);
    total += is_marked ? 1 : 0;
    put(i, total, is_marked);
  }
  return total;
}

#endif

DL_KERNELS_END

#endif  // DL_KERNELS_NUMBERING_H_
