// GPU: cumulative sums along one dimension. Contiguous rows are scanned with one vector per thread
// and iteration; long rows are divided into pieces whose sums a first pass computes. Strided rows
// are scanned by threads that are assigned to adjacent rows.
#ifndef DL_KERNELS_GPU_CUMULATIVE_ROWS_H_
#define DL_KERNELS_GPU_CUMULATIVE_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/block.h"
#include "dl_kernels/gpu/column_reduction.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"
#include "dl_kernels/layout/dim_plan.h"

DL_KERNELS_BEGIN

namespace gpu {

// Type of a sum of many terms, which adds a few terms at a time in their own type.
template <class A>
using carried_t = std::conditional_t<std::is_same_v<A, float>, double, A>;

// carried + local, without double-precision arithmetic for each float.
template <class A>
class Carry {
 public:
  explicit DL_DEVICE Carry(carried_t<A> before)
      : high_(static_cast<A>(before)),
        low_(static_cast<A>(before - static_cast<carried_t<A>>(high_))) {}
  DL_DEVICE A plus(A local) const {
    if constexpr (std::is_same_v<A, float>) return high_ + (low_ + local);
    return high_ + local;
  }

 private:
  A high_, low_;
};

template <class T>
struct CumulativeJob {
  using A = std::conditional_t<kIsFloat<T>, compute_t<T>, int64_t>;
  T* out;
  const T* in;
  DimPlan<2> plan;
  int64_t piece, pieces;  // elements per piece and pieces per row
  carried_t<A>* sums;     // of the pieces
  bool vectors;

  DL_DEVICE int64_t length(int64_t p) const {
    const int64_t left = plan.n - p * piece;
    return left < piece ? left : piece;
  }
};

template <class T>
struct CumulativePieceSum {
  using A = typename CumulativeJob<T>::A;
  CumulativeJob<T> job;

  DL_DEVICE void operator()(const Block& block, int64_t item) const {
    const int64_t row = quotient_of(item, job.pieces), p = item - row * job.pieces;
    int64_t offsets[2];
    row_offsets(job.plan.rows, row, offsets);
    const int64_t step = job.plan.step[1];
    const T* x = job.in + offsets[1] + p * job.piece * step;
    const A sum = block.sum(job.length(p), [=](int64_t i) { return cast<A>(x[i * step]); });
    if (block.lane() == 0) job.sums[item] = static_cast<carried_t<A>>(sum);
  }
};

template <class T>
struct CumulativePiece {
  using A = typename CumulativeJob<T>::A;
  using Carried = carried_t<A>;
  static constexpr int kWide = kVector<T> < 8 ? kVector<T> : 8;
  CumulativeJob<T> job;

  DL_DEVICE void operator()(const Block& block, int64_t item) const {
    const int64_t row = quotient_of(item, job.pieces), p = item - row * job.pieces;
    int64_t offsets[2];
    row_offsets(job.plan.rows, row, offsets);
    const int64_t to = job.plan.step[0], from = job.plan.step[1];
    const T* x = job.in + offsets[1] + p * job.piece * from;
    T* y = job.out + offsets[0] + p * job.piece * to;
    const Carried* sums = job.sums + row * job.pieces;
    Carried before = 0;
    if (p > 0) {
      before = block.reduce(
          p, Carried(0), [](Carried a, Carried b) { return a + b; },
          [=](int64_t k) { return sums[k]; });
    }
    const int n = static_cast<int>(job.length(p)), round = block.lanes() * kWide;
    A next[kWide] = {};
    load(x, from, block.lane() * kWide, n, next);
    for (int first = 0; first < n; first += round) {
      const int at = first + block.lane() * kWide;
      A local[kWide];
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        local[j] = j == 0 ? next[0] : local[j - 1] + next[j];
        next[j] = 0;
      }
      load(x, from, at + round, n, next);
      const Pair<A> sum = block.sum_before(local[kWide - 1]);
      const Carry<A> carry(before);
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) local[j] = carry.plus(sum.first + local[j]);
      store(y, to, at, n, local);
      before += static_cast<Carried>(sum.second);
    }
  }

 private:
  DL_DEVICE void load(const T* x, int64_t step, int i, int n, A (&to_some)[kWide]) const {
    if (job.vectors && i + kWide <= n) {
      load_vector(x + i, to_some);
    } else {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        if (i + j < n) to_some[j] = cast<A>(x[(i + j) * step]);
      }
    }
  }
  DL_DEVICE void store(T* y, int64_t step, int i, int n, const A (&some)[kWide]) const {
    if (job.vectors && i + kWide <= n) {
      store_vector(y + i, some);
    } else {
      DL_UNROLL
      for (int j = 0; j < kWide; ++j) {
        if (i + j < n) y[(i + j) * step] = cast<T>(some[j]);
      }
    }
  }
};

// Each line of a block sums its part of a row, and then scans it.
template <class T>
struct CumulativeColumn {
  using A = typename CumulativeJob<T>::A;
  using Carried = carried_t<A>;
  T* out;
  const T* in;
  DimPlan<2> plan;

  DL_DEVICE void operator()(const ColumnGroup& team, int64_t row, bool live) const {
    int64_t offsets[2];
    row_offsets(plan.rows, row, offsets);
    const int64_t part = (plan.n + team.lines() - 1) / team.lines();
    const int64_t begin = team.line() * part;
    const int64_t end = begin + part < plan.n ? begin + part : plan.n;
    const T* x = in + offsets[1];
    T* y = out + offsets[0];
    Carried before = 0;
    if (kAlwaysCollective || team.lines() > 1) {
      Carried sum = 0;
      for (int64_t i = begin; live && i < end; ++i) sum += cast<Carried>(x[i * plan.step[1]]);
      before = team.sum_before(sum);
    }
    if (!live) return;
    for (int64_t i = begin; i < end; ++i) {
      before += cast<Carried>(x[i * plan.step[1]]);
      y[i * plan.step[0]] = cast<T>(before);
    }
  }
};

}  // namespace gpu

template <class T>
void cumulative_rows(const Launch& launch, const DimPlan<2>& plan, T* out, const T* in) {
  using Piece = gpu::CumulativePiece<T>;
  const int inner = plan.rows.ndim - 1;
  if (plan.step[1] != 1 && plan.rows.strides[1][inner] == 1 && plan.rows.shape[inner] > 1) {
    gpu::run_columns(launch, plan.rows.numel, plan.n, gpu::CumulativeColumn<T>{out, in, plan});
    return;
  }
  constexpr int64_t kPiece = 1 << 14;
  const bool few = plan.rows.numel < 256;
  const int64_t piece = few || plan.n > INT32_MAX / 2 ? kPiece : plan.n;
  const int64_t pieces = (plan.n + piece - 1) / piece, items = plan.rows.numel * pieces;
  bool vectors = plan.step[0] == 1 && plan.step[1] == 1 && gpu::is_aligned(in, Piece::kWide) &&
                 gpu::is_aligned(out, Piece::kWide);
  for (int d = 0; d <= inner; ++d) {
    vectors &= plan.rows.shape[d] == 1 || (plan.rows.strides[0][d] % Piece::kWide == 0 &&
                                           plan.rows.strides[1][d] % Piece::kWide == 0);
  }
  using Sum = gpu::carried_t<typename Piece::A>;
  const Workspace<Sum> sums(launch, pieces > 1 ? items : 0);
  const gpu::CumulativeJob<T> job{out, in, plan, piece, pieces, sums.data(), vectors};
  if (pieces > 1) rows(launch, items, piece, gpu::CumulativePieceSum<T>{job});
  rows(launch, items, piece < plan.n ? piece : plan.n, Piece{job});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CUMULATIVE_ROWS_H_
