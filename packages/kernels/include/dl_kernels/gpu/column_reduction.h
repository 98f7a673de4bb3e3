// Column reduction: the reduced elements of a row are strided, and adjacent rows are adjacent in
// memory. Consecutive threads of a block read consecutive rows, and the block's lines of threads
// divide the elements of each row.
#ifndef DL_KERNELS_GPU_COLUMN_REDUCTION_H_
#define DL_KERNELS_GPU_COLUMN_REDUCTION_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/row_vectors.h"

DL_KERNELS_BEGIN

namespace gpu {

struct alignas(16) ColumnGroupScratch {
  unsigned char bytes[24 * kThreads];
};

// The threads that share one row, one in each line of the block.
class ColumnGroup {
 public:
  // `lanes` is the number of rows of the block, a power of two; `live` is false if there is no row
  // for these threads.
  DL_DEVICE ColumnGroup(ColumnGroupScratch* scratch, int lanes, bool live)
      : scratch_(scratch), lanes_(lanes), line_(thread_index() / lanes), live_(live) {}

  template <class F>
  DL_DEVICE void map(int64_t n, const F& f) const {
    if (!live_) return;
    for (int64_t i = line_; i < n; i += kThreads / lanes_) f(i);
  }

  DL_DEVICE int line() const { return line_; }

  // All-reduce: return the combination of all lines' values to every thread of the row. All threads
  // of the block take part.
  template <class T, class Combine>
  DL_DEVICE T all_reduce(T mine, const Combine& combine) const {
    static_assert(sizeof(T) * kThreads <= sizeof(scratch_->bytes), "the scratch is too small");
    if (lanes_ == kThreads) return mine;
    T* slots = reinterpret_cast<T*>(scratch_->bytes);
    const int me = thread_index(), lane = me & (lanes_ - 1);
    barrier();  // slots of the previous collective may still be read
    slots[me] = mine;
    for (int half = kThreads / lanes_ / 2; half > 0; half /= 2) {
      barrier();
      if (line_ < half) slots[me] = mine = combine(mine, slots[me + half * lanes_]);
    }
    barrier();
    return slots[lane];
  }

  // Return the sum of the values of the lines before this one. All threads of the block take part.
  template <class T>
  DL_DEVICE T sum_before(T mine) const {
    static_assert(sizeof(T) * kThreads <= sizeof(scratch_->bytes), "the scratch is too small");
    if (!kAlwaysCollective && lanes_ == kThreads) return T(0);
    T* slots = reinterpret_cast<T*>(scratch_->bytes);
    const int me = thread_index(), lane = me & (lanes_ - 1);
    barrier();  // slots of the previous collective may still be read
    slots[me] = mine;
    barrier();
    T sum = 0;
    // All threads make the same number of iterations: PoCL 6 does not compile a loop correctly that
    // begins alike and ends differently in each thread.
    for (int line = 0; line < lines(); ++line) {
      if (line < line_) sum += slots[line * lanes_ + lane];
    }
    return sum;
  }

  DL_DEVICE int lines() const { return kThreads / lanes_; }

 private:
  ColumnGroupScratch* scratch_;
  int lanes_, line_;
  bool live_;
};

template <class F>
DL_KERNEL void columns_kernel(int64_t count, int lanes, F f) {
  DL_SHARED ColumnGroupScratch scratch;
  for (int64_t first = block_index() * lanes; first < count; first += block_count() * lanes) {
    const int64_t own = first + (thread_index() & (lanes - 1));
    const bool live = own < count;
    f(ColumnGroup(&scratch, lanes, live), live ? own : count - 1, live);
  }
}

// Call f(team, row, exists) for `count` rows of n elements; `exists` is false without a row. `f` is
// a functor without references.
template <class F>
void run_columns(const Launch& launch, int64_t count, int64_t n, const F& f) {
  if (count <= 0) return;
  constexpr int64_t kMost = 1 << 20;
  // Each line has at least 16 elements, and loads of a warp are not split.
  const int lines = power_of_two(n / 16, kThreads / kLeastWarp);
  const int lanes = power_of_two(count, kThreads / lines);
  const int64_t blocks = (count + lanes - 1) / lanes;
  run_blocks(launch.stream(), blocks < kMost ? blocks : kMost, columns_kernel<F>, count, lanes, f);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_COLUMN_REDUCTION_H_
