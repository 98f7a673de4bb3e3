// Collectives of teams for machines without shuffles, whose warps are whole blocks: values pass
// through shared memory. The threads of a team are divided into parts; each thread combines the
// values of its part, and then those of all parts.
//
// All threads of the block take part, with teams of the same size, a power of two, and no barrier
// is below a condition: PoCL 6 duplicates the code after such a barrier, and would compile the
// steps of a few butterfly shuffles for minutes. Loops after a barrier are unrolled: PoCL 6 takes
// the code after a barrier for unreachable if it begins with a loop, inside a loop that carries a
// value, as in a cumulative sum.
#ifndef DL_KERNELS_GPU_MEMORY_COLLECTIVES_H_
#define DL_KERNELS_GPU_MEMORY_COLLECTIVES_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/team.h"
#include "dl_kernels/gpu/threads.h"

DL_KERNELS_BEGIN

namespace gpu {

class MemoryTeam {
 public:
  DL_DEVICE MemoryTeam(BlockScratch*, int lane, int lanes)
      : first_(thread_index() - lane),
        part_(lanes < kPart ? lanes : kPart),
        parts_(lanes / part_),
        begin_(thread_index() - lane % part_) {}

  // All-reduce: return the combination of all threads' values to every thread.
  template <class T, class Combine>
  DL_DEVICE T all_reduce(const T& mine, const Combine& combine) const {
    const T* const values = exchange<0>(mine);
    T sum = values[begin_];
    DL_UNROLL
    for (int i = 1; i < kPart; ++i) {
      if (i < part_) sum = combine(sum, values[begin_ + i]);
    }
    const T* const sums = exchange<1>(sum);
    T all = sums[first_];
    DL_UNROLL
    for (int k = 1; k < kParts; ++k) {
      if (k < parts_) all = combine(all, sums[first_ + k * part_]);
    }
    return all;
  }

  // Return the exclusive prefix sum of the threads' values, and the total.
  template <class T>
  DL_DEVICE Pair<T> sum_before(const T& mine) const {
    const int me = thread_index();
    const T* const values = exchange<0>(mine);
    T sum = 0, before = 0, all = 0;
    DL_UNROLL
    for (int i = 0; i < kPart; ++i) {
      if (begin_ + i < me) before += values[begin_ + i];
      if (i < part_) sum += values[begin_ + i];
    }
    const T* const sums = exchange<1>(sum);
    DL_UNROLL
    for (int k = 0; k < kParts; ++k) {
      const int i = first_ + k * part_;
      if (i < begin_) before += sums[i];
      if (k < parts_) all += sums[i];
    }
    return {before, all};
  }

  template <class T, class Combine>
  DL_DEVICE Scanned<T> scan(const T& mine, const Combine& combine) const {
    const int me = thread_index();
    const T* const values = exchange<0>(mine);
    T sum = values[begin_], inner = sum;
    DL_UNROLL
    for (int i = 1; i < kPart; ++i) {
      if (i < part_) sum = combine(sum, values[begin_ + i]);
      if (begin_ + i <= me) inner = sum;
    }
    const T* const sums = exchange<1>(sum);
    Scanned<T> scanned{inner, T{}, sums[first_], begin_ > first_};
    DL_UNROLL
    for (int k = 1; k < kParts; ++k) {
      const int i = first_ + k * part_;
      if (i <= begin_) scanned.outer = scanned.all;
      if (k < parts_) scanned.all = combine(scanned.all, sums[i]);
    }
    return scanned;
  }

 private:
  static constexpr int kPart = 16, kParts = kThreads / kPart;  // the largest part, and the most

  // Share the values of the block's threads. Exchanges 0 and 1 alternate: the barrier of one
  // separates the reads of the other from the next writes there.
  template <int kNumber, class T>
  DL_DEVICE static const T* exchange(const T& mine) {
    struct alignas(16) Bytes {
      unsigned char bytes[sizeof(T) * kThreads];
    };
    DL_SHARED Bytes memory;
    T* const values = reinterpret_cast<T*>(memory.bytes);
    values[thread_index()] = mine;
    barrier();
    return values;
  }

  int first_;                 // thread of the team
  int part_, parts_, begin_;  // size and number of parts, and the first thread of this one
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_MEMORY_COLLECTIVES_H_
