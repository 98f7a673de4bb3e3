// GPU: the position of a row's extremum (argmax and argmin), in one pass. The first of equal
// elements wins; the first NaN wins over everything.
#ifndef DL_KERNELS_GPU_EXTREMUM_POSITIONS_H_
#define DL_KERNELS_GPU_EXTREMUM_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/column_reduction.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/layout/dim_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

template <class C>
struct Indexed {
  C value;
  int64_t at;  // -1 if empty
};

template <bool Max, class C>
struct BetterIndexed {
  DL_DEVICE Indexed<C> operator()(const Indexed<C>& a, const Indexed<C>& b) const {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value);
    const bool better = nan_b ? !nan_a : !nan_a && (Max ? b.value > a.value : b.value < a.value);
    const bool same = nan_a ? nan_b : b.value == a.value;
    return better || (same && b.at < a.at) ? b : a;
  }
};

template <bool Max, class T>
struct Positions {
  using C = compute_t<T>;
  T* values;  // may be null
  int64_t* positions;
  const T* in;
  DimPlan<3> plan;  // input, values, positions

  DL_DEVICE void put(const int64_t (&offsets)[3], const Indexed<C>& best) const {
    positions[offsets[2]] = best.at;
    if (values != nullptr) values[offsets[1]] = cast<T>(best.value);
  }

  DL_DEVICE void operator()(const Block& block, int64_t row) const {
    int64_t offsets[3];
    row_offsets(plan.rows, row, offsets);
    const T* x = in + offsets[0];
    const int64_t step = plan.step[0];
    const Indexed<C> best =
        block.reduce(plan.n, Indexed<C>{C(0), -1}, BetterIndexed<Max, C>{},
                     [=](int64_t i) { return Indexed<C>{cast<C>(x[i * step]), i}; });
    if (block.lane() == 0) put(offsets, best);
  }

  DL_DEVICE void operator()(const ColumnGroup& team, int64_t row, bool live) const {
    int64_t offsets[3];
    row_offsets(plan.rows, row, offsets);
    const T* x = in + offsets[0];
    Indexed<C> best{C(0), -1};
    team.map(plan.n, [&](int64_t i) {
      best = BetterIndexed<Max, C>{}(best, Indexed<C>{cast<C>(x[i * plan.step[0]]), i});
    });
    best = team.all_reduce(best, BetterIndexed<Max, C>{});
    if (live && team.line() == 0) put(offsets, best);
  }
};

// A piece of a reduction over all elements.
template <bool Max, class T>
struct IndexedPiece {
  using C = compute_t<T>;
  Indexed<C>* found;
  const T* in;
  int64_t count, piece;

  DL_DEVICE void operator()(const Block& block, int64_t k) const {
    const int64_t begin = k * piece, left = count - begin;
    const T* x = in + begin;
    const Indexed<C> best =
        block.reduce(left < piece ? left : piece, Indexed<C>{C(0), -1}, BetterIndexed<Max, C>{},
                     [=](int64_t i) { return Indexed<C>{cast<C>(x[i]), begin + i}; });
    if (block.lane() == 0) found[k] = best;
  }
};

template <bool Max, class C>
struct BestIndexed {
  int64_t* position;
  const Indexed<C>* found;
  int64_t pieces;

  DL_DEVICE void operator()(const Block& block, int64_t) const {
    const Indexed<C>* from = found;
    const Indexed<C> best = block.reduce(pieces, Indexed<C>{C(0), -1}, BetterIndexed<Max, C>{},
                                         [=](int64_t k) { return from[k]; });
    if (block.lane() == 0) *position = best.at;
  }
};

}  // namespace gpu

// `values` may be null.
template <bool Max, class T>
void find_positions(const Launch& launch, const DimPlan<3>& plan, T* values, int64_t* positions,
                    const T* in) {
  const gpu::Positions<Max, T> job{values, positions, in, plan};
  const int inner = plan.rows.ndim - 1;
  if (plan.step[0] != 1 && plan.rows.strides[0][inner] == 1 && plan.rows.shape[inner] > 1) {
    gpu::run_columns(launch, plan.rows.numel, plan.n, job);
  } else {
    rows(launch, plan.rows.numel, plan.n, job);
  }
}

template <bool Max, class T>
void find_position(const Launch& launch, int64_t* position, const T* in, int64_t count) {
  using C = compute_t<T>;
  constexpr int64_t kPiece = 1 << 13;
  const int64_t pieces = (count + kPiece - 1) / kPiece;
  const Workspace<gpu::Indexed<C>> found(launch, pieces);
  rows(launch, pieces, kPiece, gpu::IndexedPiece<Max, T>{found.data(), in, count, kPiece});
  rows(launch, 1, pieces, gpu::BestIndexed<Max, C>{position, found.data(), pieces});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_EXTREMUM_POSITIONS_H_
