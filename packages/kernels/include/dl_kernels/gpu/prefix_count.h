// GPU exclusive scan of marked positions: blocks count the marked positions of their pieces, one
// block scans the counts, and then every position gets its own count.
#ifndef DL_KERNELS_GPU_PREFIX_COUNT_H_
#define DL_KERNELS_GPU_PREFIX_COUNT_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

namespace gpu {

inline constexpr int64_t kCountedPiece = 4096;

// Counts of marked positions in pieces of kCountedPiece.
template <class Marked>
struct CountPiece {
  Marked marked;
  int64_t n;
  int64_t* counts;

  DL_DEVICE void operator()(const Block& block, int64_t piece) const {
    const int64_t first = piece * kCountedPiece, left = n - first;
    const Marked& is_marked = marked;
    const int64_t count = block.sum(
        left < kCountedPiece ? left : kCountedPiece,
        [&is_marked, first](int64_t i) { return static_cast<int64_t>(is_marked(first + i)); });
    int64_t* to = counts + piece;
    block.map(1, [=](int64_t) { *to = count; });
  }
};

// Turn counts into cumulative counts up to the end of each piece.
struct AddUpPieces {
  int64_t* counts;
  int64_t pieces;

  DL_DEVICE void operator()(const Block& block, int64_t) const {
    int64_t* all = counts;
    block.scan<int64_t>(
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

  DL_DEVICE void operator()(const Block& block, int64_t piece) const {
    const int64_t first = piece * kCountedPiece, left = n - first;
    const int64_t before = piece == 0 ? 0 : ends[piece - 1];
    const Marked& is_marked = marked;
    const Put& put_number = put;
    block.scan<int32_t>(
        left < kCountedPiece ? left : kCountedPiece,
        [&is_marked, first](int64_t i) { return static_cast<int32_t>(is_marked(first + i)); },
        [](int32_t a, int32_t b) { return a + b; },
        [&is_marked, &put_number, first, before](int64_t i, int32_t k) {
          put_number(first + i, before + k, is_marked(first + i));
        });
  }
};

// The positions of [0, n) for which `marked` is true. Functors must not hold references.
template <class Marked>
class MarkedPositions {
 public:
  MarkedPositions(const Launch& launch, int64_t n, const Marked& marked)
      : launch_(launch), marked_(marked), n_(n) {
    if (n == 0) return;
    ends_.reserve(launch, pieces());
    rows(launch, pieces(), kCountedPiece, CountPiece<Marked>{marked, n, ends_.data()});
    rows(launch, 1, pieces(), AddUpPieces{ends_.data(), pieces()});
  }

  // Return their number; waits for the device.
  int64_t count() const { return n_ == 0 ? 0 : fetch(launch_, ends_.data() + pieces() - 1); }
  // Write the number to device memory.
  void count_to(int64_t* to) const {
    if (n_ == 0) {
      clear_bytes(launch_, to, sizeof(*to));
    } else {
      copy_bytes(launch_, to, ends_.data() + pieces() - 1, sizeof(*to));
    }
  }

  // Call put(i, k, marked(i)) for every i, where k of the positions 0 … i are marked.
  template <class Put>
  void number(const Put& put) const {
    if (n_ == 0) return;
    rows(launch_, pieces(), kCountedPiece,
         NumberPiece<Marked, Put>{marked_, put, n_, ends_.data()});
  }

 private:
  int64_t pieces() const { return (n_ + kCountedPiece - 1) / kCountedPiece; }

  Launch launch_;
  Marked marked_;
  int64_t n_;
  Workspace<int64_t> ends_;
};

}  // namespace gpu

template <class Marked, class Put>
int64_t prefix_count(const Launch& launch, int64_t n, const Marked& marked, const Put& put) {
  const gpu::MarkedPositions<Marked> positions(launch, n, marked);
  positions.number(put);
  return positions.count();
}

template <class Marked, class Put>
void prefix_count_to(const Launch& launch, int64_t n, const Marked& marked, const Put& put,
                     int64_t* count) {
  const gpu::MarkedPositions<Marked> positions(launch, n, marked);
  positions.number(put);
  positions.count_to(count);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PREFIX_COUNT_H_
