// Collectives of teams by shuffles within warps, and shared memory between the warps of a block.
#ifndef DL_KERNELS_GPU_SHUFFLE_COLLECTIVES_H_
#define DL_KERNELS_GPU_SHUFFLE_COLLECTIVES_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/team.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

namespace gpu {

class ShuffleTeam {
 public:
  DL_DEVICE ShuffleTeam(BlockScratch* scratch, int lane, int lanes)
      : scratch_(scratch), lane_(lane), lanes_(lanes) {}

  // All-reduce: return the combination of all threads' values to every thread.
  template <class T, class Combine>
  DL_DEVICE T all_reduce(T mine, const Combine& combine) const {
    const int warp = warp_threads(), inside = lanes_ < warp ? lanes_ : warp;
    warp_barrier();
    DL_UNROLL
    for (int mask = warp / 2; mask > 0; mask /= 2) {
      if (mask < inside) mine = combine(mine, shuffle_xor(mine, mask));
    }
    if (lanes_ <= warp) return mine;
    const T* slots = exchange(mine);
    T all = slots[0];
    for (int i = 1; i < kThreads / warp; ++i) all = combine(all, slots[i]);
    return all;
  }

  // Return the exclusive prefix sum of the threads' values, and the total.
  template <class T>
  DL_DEVICE Pair<T> sum_before(T mine) const {
    const int warp = warp_threads(), inside = lanes_ < warp ? lanes_ : warp;
    Pair<T> sums{T(0), mine};
    warp_barrier();
    DL_UNROLL
    for (int mask = 1; mask < warp; mask *= 2) {
      if (mask >= inside) break;
      const T other = shuffle_xor(sums.second, mask);
      if ((lane_ & mask) != 0) sums.first += other;
      sums.second += other;
    }
    if (lanes_ <= warp) return sums;
    const T* slots = exchange(sums.second);
    T all = 0;
    for (int i = 0; i < kThreads / warp; ++i) {
      if (i == lane_ / warp) sums.first += all;
      all += slots[i];
    }
    return {sums.first, all};
  }

  template <class T, class Combine>
  DL_DEVICE Scanned<T> scan(T mine, const Combine& combine) const {
    const int warp = warp_threads(), inside = lanes_ < warp ? lanes_ : warp;
    Scanned<T> scanned{mine, T{}, mine, false};
    warp_barrier();
    // After each step, groups of twice as many threads know their combined value.
    DL_UNROLL
    for (int mask = 1; mask < warp; mask *= 2) {
      if (mask >= inside) break;
      const T other = shuffle_xor(scanned.all, mask);
      if ((lane_ & mask) != 0) {
        scanned.inner = combine(other, scanned.inner);
        scanned.all = combine(other, scanned.all);
      } else {
        scanned.all = combine(scanned.all, other);
      }
    }
    if (lanes_ <= warp) return scanned;
    const T* slots = exchange(scanned.all);
    T sum = slots[0];
    for (int i = 1; i < kThreads / warp; ++i) {
      if (i == lane_ / warp) {
        scanned.outer = sum;
        scanned.has_outer = true;
      }
      sum = combine(sum, slots[i]);
    }
    scanned.all = sum;
    return scanned;
  }

 private:
  // Exchange the values of the block's warps.
  template <class T>
  DL_DEVICE const T* exchange(const T& of_warp) const {
    static_assert(sizeof(T) * (kThreads / kLeastWarp) <= sizeof(scratch_->bytes),
                  "the scratch memory is too small");
    T* slots = reinterpret_cast<T*>(scratch_->bytes);
    const int warp = warp_threads();
    barrier();  // slots of the previous collective may still be read
    if (lane_ % warp == 0) slots[lane_ / warp] = of_warp;
    barrier();
    return slots;
  }

  BlockScratch* scratch_;
  int lane_, lanes_;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SHUFFLE_COLLECTIVES_H_
