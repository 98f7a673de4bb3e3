// Reduction of a large array to one value. Pieces are fixed and combined in order, so the result is
// deterministic.
#ifndef DL_KERNELS_GPU_TOTAL_H_
#define DL_KERNELS_GPU_TOTAL_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class T, class Combine, class F>
struct TotalPiece {
  T start;
  Combine combine;
  F f;
  int64_t count, piece;
  T* to;

  DL_DEVICE void operator()(const Block& block, int64_t k) const {
    const F& item = f;
    const int64_t first = k * piece, left = count - first;
    const T all = block.reduce(left < piece ? left : piece, start, combine,
                               [&item, first](int64_t i) { return item(first + i); });
    T* result = to + k;
    block.map(1, [=](int64_t) { *result = all; });
  }
};

template <class T>
struct LoadTotal {
  const T* parts;
  DL_FN T operator()(int64_t i) const { return parts[i]; }
};

// *to = the combination of f(0) … f(count - 1), in device memory; `start` if there are none.
// `combine` and `start` are as for Block::reduce; functors must not hold references.
template <class T, class Combine, class F>
void total(const Launch& launch, int64_t count, T start, const Combine& combine, const F& f,
           T* to) {
  constexpr int64_t kPiece = 1 << 14;
  const int64_t pieces = (count + kPiece - 1) / kPiece;
  if (pieces <= 1) {
    rows(launch, 1, count, TotalPiece<T, Combine, F>{start, combine, f, count, count, to});
    return;
  }
  const Workspace<T> parts(launch, pieces);
  rows(launch, pieces, kPiece,
       TotalPiece<T, Combine, F>{start, combine, f, count, kPiece, parts.data()});
  using Load = LoadTotal<T>;
  rows(launch, 1, pieces,
       TotalPiece<T, Combine, Load>{start, combine, Load{parts.data()}, pieces, pieces, to});
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_TOTAL_H_
