// GPU: a block is a block of threads, or a warp if rows are short. Element i is always visited by
// the same thread, so a thread may read in one `map` what it wrote in the previous one; every other
// collective is a barrier.
#ifndef DL_KERNELS_GPU_BLOCK_H_
#define DL_KERNELS_GPU_BLOCK_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/collectives.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

class Block {
 public:
  // All threads of the block.
  explicit DL_DEVICE Block(BlockScratch* scratch)
      : Block(scratch, gpu::thread_index(), gpu::kThreads) {}
  // A team of `lanes` threads of the block, where `lanes` is a power of two up to a warp, or the
  // block's size. Teams smaller than a warp execute collectives together with the other teams of
  // their warp.
  DL_DEVICE Block(BlockScratch* scratch, int lanes)
      : Block(scratch, gpu::thread_index() & (lanes - 1), lanes) {}

  DL_DEVICE int lane() const { return lane_; }
  DL_DEVICE int lanes() const { return lanes_; }

  template <class F>
  DL_DEVICE void map(int64_t n, const F& f) const {
    for (int64_t i = lane_; i < n; i += lanes_) f(i);
  }
  template <class F>
  DL_DEVICE void map_part(int64_t begin, int64_t end, const F& f) const {
    map(end, [&](int64_t i) {
      if (i >= begin) f(i);
    });
  }

  // `combine` must be associative and commutative up to rounding; `start` is its neutral element.
  template <class T, class Combine, class F>
  DL_DEVICE T reduce(int64_t n, T start, const Combine& combine, const F& f) const {
    T mine = start;
    for (int64_t i = lane_; i < n; i += lanes_) mine = combine(mine, f(i));
    return all_reduce(mine, combine);
  }

  // A thread's elements are summed in pieces, whose results are added in double, and threads are
  // combined as a tree: the error hardly grows with n.
  template <class F>
  DL_DEVICE auto sum(int64_t n, const F& f) const {
    using T = std::decay_t<decltype(f(int64_t(0)))>;
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    Wide mine = 0;
    for (int64_t i = lane_; i < n;) {
      T piece = 0;
      for (const int64_t end = end_of_piece(i, n); i < end; i += lanes_) piece += f(i);
      mine += piece;
    }
    return all_reduce(static_cast<T>(mine), [](T a, T b) { return a + b; });
  }

  // Compute two sums in one pass: of `first` and of `second` of the pairs f(i).
  template <class F>
  DL_DEVICE Pair<double> sum_pair(int64_t n, const F& f) const {
    using T = decltype(f(int64_t(0)).first);
    Pair<double> mine{0, 0};
    for (int64_t i = lane_; i < n;) {
      Pair<T> piece{0, 0};
      for (const int64_t end = end_of_piece(i, n); i < end; i += lanes_) {
        const Pair<T> both = f(i);
        piece.first += both.first;
        piece.second += both.second;
      }
      mine.first += static_cast<double>(piece.first);
      mine.second += static_cast<double>(piece.second);
    }
    return all_reduce(mine, [](const Pair<double>& a, const Pair<double>& b) {
      return Pair<double>{a.first + b.first, a.second + b.second};
    });
  }

  // Scan: call store(i, combination of load(0) … load(i)) for every i. An iteration processes as
  // many adjacent elements as there are threads.
  template <class T, class Load, class Combine, class Store>
  DL_DEVICE void scan(int64_t n, const Load& load, const Combine& combine,
                      const Store& store) const {
    T before{};
    for (int64_t base = 0; base < n; base += lanes_) {
      const int64_t i = base + lane_;
      const bool has = i < n;
      const gpu::Scanned<T> scanned = team_.scan(has ? load(i) : T{}, combine);
      if (has) {
        T value = scanned.inner;
        if (scanned.has_outer) value = combine(scanned.outer, value);
        store(i, base == 0 ? value : combine(before, value));
      }
      before = base == 0 ? scanned.all : combine(before, scanned.all);
    }
  }

  // All-reduce: return the combination of all threads' values to every thread.
  template <class T, class Combine>
  DL_DEVICE T all_reduce(const T& mine, const Combine& combine) const {
    return team_.all_reduce(mine, combine);
  }

  // Return the exclusive prefix sum of the threads' values, and the total.
  template <class T>
  DL_DEVICE Pair<T> sum_before(const T& mine) const {
    return team_.sum_before(mine);
  }

 private:
  static constexpr int kPiece = 64;  // elements of a thread whose sum is kept in their own type

  DL_DEVICE int64_t end_of_piece(int64_t begin, int64_t n) const {
    const int64_t end = begin + int64_t(kPiece) * lanes_;
    return end < n ? end : n;
  }

  DL_DEVICE Block(BlockScratch* scratch, int lane, int lanes)
      : team_(scratch, lane, lanes), lane_(lane), lanes_(lanes) {}

  gpu::Team team_;
  int lane_, lanes_;
};

namespace gpu {

// Some threads of a block, for kernels that only map elements.
class Lanes {
 public:
  DL_DEVICE Lanes(int index, int count) : index_(index), count_(count) {}

  DL_DEVICE int lane() const { return index_; }
  DL_DEVICE int lanes() const { return count_; }

  template <class F>
  DL_DEVICE void map(int64_t n, const F& f) const {
    for (int64_t i = index_; i < n; i += count_) f(i);
  }
  template <class F>
  DL_DEVICE void map_part(int64_t begin, int64_t end, const F& f) const {
    map(end, [&](int64_t i) {
      if (i >= begin) f(i);
    });
  }

 private:
  int index_, count_;
};

template <class Kernel>
DL_KERNEL void mapped_row_kernel(int64_t count, int lanes, Kernel kernel) {
  const Lanes block(thread_index() % lanes, lanes);
  const int64_t in_block = kThreads / lanes;
  for (int64_t row = block_index() * in_block + thread_index() / lanes; row < count;
       row += block_count() * in_block)
    kernel(block, row);
}

// `by_warp`: one row per warp, otherwise one per block.
template <class Kernel>
DL_KERNEL void row_kernel(int64_t count, bool by_warp, Kernel kernel) {
  DL_SHARED BlockScratch scratch;
  const int lanes = by_warp ? warp_threads() : kThreads, teams = kThreads / lanes;
  const Block block(&scratch, lanes);
  for (int64_t row = block_index() * teams + thread_index() / lanes; row < count;
       row += block_count() * teams)
    kernel(block, row);
}

template <class T, class Kernel>
DL_KERNEL void buffered_row_kernel(int64_t count, Kernel kernel, T* buffers, int64_t in_buffer) {
  DL_SHARED BlockScratch scratch;
  const Block block(&scratch);
  for (int64_t row = block_index(); row < count; row += block_count())
    kernel(block, row, buffers + block_index() * in_buffer);
}

}  // namespace gpu

// One warp per short row, one block per long row. `kernel` is a functor without references.
template <class Kernel>
void rows(const Launch& launch, int64_t count, int64_t work, const Kernel& kernel) {
  if (count <= 0) return;
  constexpr int64_t kMost = 1 << 20, kLittle = 1024, kWarps = gpu::kThreads / gpu::kLeastWarp;
  const bool by_warp = work <= kLittle;
  const int64_t blocks = by_warp ? (count + kWarps - 1) / kWarps : count;
  gpu::run_blocks(launch.stream(), blocks < kMost ? blocks : kMost, gpu::row_kernel<Kernel>, count,
                  by_warp, kernel);
}

// The same for kernels that only map about `n` elements per row: a block processes several short
// rows.
template <class Kernel>
void mapped_rows(const Launch& launch, int64_t count, int64_t n, int64_t, const Kernel& kernel) {
  if (count <= 0) return;
  int lanes = 1;
  while (lanes < n && lanes < gpu::kThreads) lanes *= 2;
  gpu::run_threads(launch.stream(), gpu::blocks_for(count * lanes), gpu::mapped_row_kernel<Kernel>,
                   count, lanes, kernel);
}

// Rows with `count_in_buffer` elements of scratch memory per block: kernel(block, row, buffer).
template <class T, class Kernel>
void rows_with_buffer(const Launch& launch, int64_t count, int64_t, int64_t count_in_buffer,
                      const Kernel& kernel) {
  if (count <= 0) return;
  constexpr int64_t kMost = 1024;  // bounds the memory of the buffers
  const int64_t blocks = count < kMost ? count : kMost;
  const Workspace<T> buffers(launch, blocks * count_in_buffer);
  gpu::run_blocks(launch.stream(), blocks, gpu::buffered_row_kernel<T, Kernel>, count, kernel,
                  buffers.data(), count_in_buffer);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_BLOCK_H_
