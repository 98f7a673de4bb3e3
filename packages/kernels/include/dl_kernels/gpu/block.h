// GPU: a block is a block of threads. Element i is always visited by the same thread, so what a
// thread wrote in one `map` it may read in the next; every other collective is a barrier.
#ifndef DL_KERNELS_GPU_BLOCK_H_
#define DL_KERNELS_GPU_BLOCK_H_

#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

// 16 bytes for each thread.
struct alignas(16) BlockScratch {
  unsigned char bytes[16 * gpu::kThreads];
};

class Block {
 public:
  explicit DL_DEVICE Block(BlockScratch* scratch) : scratch_(scratch) {}

  template <class F>
  DL_DEVICE void map(int64_t n, const F& f) const {
    for (int64_t i = gpu::thread_index(); i < n; i += gpu::kThreads) f(i);
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
    for (int64_t i = gpu::thread_index(); i < n; i += gpu::kThreads) mine = combine(mine, f(i));
    return together(mine, combine);
  }

  // Long sums are cut into pieces whose results are added in double: the error does not grow with
  // n.
  template <class F>
  DL_DEVICE auto sum(int64_t n, const F& f) const {
    using T = std::decay_t<decltype(f(int64_t(0)))>;
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    constexpr int kPiece = 64;
    Wide mine = 0;
    for (int64_t i = gpu::thread_index(); i < n;) {
      T piece = 0;
      for (int k = 0; k < kPiece && i < n; ++k, i += gpu::kThreads) piece += f(i);
      mine += piece;
    }
    return static_cast<T>(together(mine, [](Wide a, Wide b) { return a + b; }));
  }

  // Two sums in one pass: of `first` and `second` of what f(i) returns.
  template <class F>
  DL_DEVICE Pair<double> sum_pair(int64_t n, const F& f) const {
    using T = decltype(f(int64_t(0)).first);
    constexpr int kPiece = 64;
    Pair<double> mine{0, 0};
    for (int64_t i = gpu::thread_index(); i < n;) {
      Pair<T> piece{0, 0};
      for (int k = 0; k < kPiece && i < n; ++k, i += gpu::kThreads) {
        const Pair<T> both = f(i);
        piece.first += both.first;
        piece.second += both.second;
      }
      mine.first += static_cast<double>(piece.first);
      mine.second += static_cast<double>(piece.second);
    }
    return together(mine, [](const Pair<double>& a, const Pair<double>& b) {
      return Pair<double>{a.first + b.first, a.second + b.second};
    });
  }

  // Calls store(i, combination of load(0) … load(i)) for every i.
  template <class T, class Load, class Combine, class Store>
  DL_DEVICE void scan(int64_t n, const Load& load, const Combine& combine,
                      const Store& store) const {
    T* slots = scratch<T, gpu::kThreads>();
    const int me = gpu::thread_index();
    T before{};
    for (int64_t base = 0; base < n; base += gpu::kThreads) {
      const int64_t i = base + me;
      T value = i < n ? load(i) : T{};
      gpu::barrier();
      slots[me] = value;
      gpu::barrier();
      // Hillis and Steele: after each round, a slot holds twice as many elements.
      for (int distance = 1; distance < gpu::kThreads; distance *= 2) {
        if (me >= distance) value = combine(slots[me - distance], value);
        gpu::barrier();
        slots[me] = value;
        gpu::barrier();
      }
      const T last = slots[gpu::kThreads - 1];
      if (i < n) store(i, base == 0 ? value : combine(before, value));
      before = base == 0 ? last : combine(before, last);
    }
  }

 private:
  template <class T, int kSlots>
  DL_DEVICE T* scratch() const {
    static_assert(sizeof(T) * kSlots <= sizeof(scratch_->bytes), "the scratch memory is too small");
    return reinterpret_cast<T*>(scratch_->bytes);
  }

  // The combination of what all threads have, to all of them.
  template <class T, class Combine>
  DL_DEVICE T together(T mine, const Combine& combine) const {
    const int warp = gpu::warp_threads(), me = gpu::thread_index();
    for (int mask = warp / 2; mask > 0; mask /= 2)
      mine = combine(mine, gpu::shuffle_xor(mine, mask));
    T* slots = scratch<T, gpu::kThreads / gpu::kLeastWarp>();
    gpu::barrier();  // slots may still be read from the last time
    if (me % warp == 0) slots[me / warp] = mine;
    gpu::barrier();
    T all = slots[0];
    for (int i = 1; i < gpu::kThreads / warp; ++i) all = combine(all, slots[i]);
    return all;
  }

  BlockScratch* scratch_;
};

namespace gpu {

// Some threads of a block, for kernels that only map.
class Lanes {
 public:
  DL_DEVICE Lanes(int index, int count) : index_(index), count_(count) {}

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

template <class Kernel>
DL_KERNEL void row_kernel(int64_t count, Kernel kernel) {
  DL_SHARED BlockScratch scratch;
  const Block block(&scratch);
  for (int64_t row = block_index(); row < count; row += block_count()) kernel(block, row);
}

template <class T, class Kernel>
DL_KERNEL void buffered_row_kernel(int64_t count, Kernel kernel, T* buffers, int64_t in_buffer) {
  DL_SHARED BlockScratch scratch;
  const Block block(&scratch);
  for (int64_t row = block_index(); row < count; row += block_count())
    kernel(block, row, buffers + block_index() * in_buffer);
}

}  // namespace gpu

// A block for each row. `kernel` is a functor without references.
template <class Kernel>
void rows(const Launch& launch, int64_t count, int64_t, const Kernel& kernel) {
  if (count <= 0) return;
  constexpr int64_t kMost = 1 << 20;
  gpu::run_blocks(launch.stream(), count < kMost ? count : kMost, gpu::row_kernel<Kernel>, count,
                  kernel);
}

// The same for kernels that only map over about `n` elements: a block takes several short rows.
template <class Kernel>
void mapped_rows(const Launch& launch, int64_t count, int64_t n, int64_t, const Kernel& kernel) {
  if (count <= 0) return;
  int lanes = 1;
  while (lanes < n && lanes < gpu::kThreads) lanes *= 2;
  gpu::run_threads(launch.stream(), gpu::blocks_for(count * lanes), gpu::mapped_row_kernel<Kernel>,
                   count, lanes, kernel);
}

// As rows, with `count_in_buffer` elements of scratch memory for each block: kernel(block, row,
// buffer).
template <class T, class Kernel>
void rows_with_buffer(const Launch& launch, int64_t count, int64_t, int64_t count_in_buffer,
                      const Kernel& kernel) {
  if (count <= 0) return;
  constexpr int64_t kMost = 1024;  // bounds the memory that buffers take
  const int64_t blocks = count < kMost ? count : kMost;
  const Workspace<T> buffers(launch, blocks * count_in_buffer);
  gpu::run_blocks(launch.stream(), blocks, gpu::buffered_row_kernel<T, Kernel>, count, kernel,
                  buffers.data(), count_in_buffer);
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_BLOCK_H_
