// Kernels that are correct or have exactly one defect, compiled so that their accesses are watched.
// The argument selects the kernel; the emulation reports its defect.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "gpu_emulation.h"

using namespace dl::kernels;
using gpu::barrier;
using gpu::block_index;
using gpu::kThreads;
using gpu::thread_index;

namespace {

constexpr int kBlocks = 3, kCount = 9;

struct Arguments {
  int32_t* data;    // kCount initialized elements
  int32_t* counts;  // one per thread of all blocks, initially zero
  int32_t* fresh;   // kCount uninitialized elements
};

int32_t everyone() { return static_cast<int32_t>(block_index() * kThreads + thread_index()); }
bool is_first() { return everyone() == 0; }

using Kernel = void(Arguments);

void clean(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  shared[thread_index()] = thread_index();
  barrier();
  a.counts[everyone()] = shared[kThreads - 1 - thread_index()];
  barrier();
  shared[kThreads - 1 - thread_index()] = 1;
}
// Threads of a warp need no block barrier.
void within_warp(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  for (int32_t round = 0; round < 2; ++round) {
    shared[thread_index()] = round;
    gpu::warp_barrier();
    a.counts[everyone()] = shared[thread_index() ^ 1];
    gpu::warp_barrier();
  }
}
void same_value(Arguments a) { a.data[0] = 7; }
void atomic_sum(Arguments a) { gpu::add_at_once(reinterpret_cast<uint32_t*>(a.data), 1u); }
// The last block reads the results of the others, which publish them by a fence and an atomic
// access.
void handed_over(Arguments a) {
  a.counts[everyone()] = 1;
  barrier();
  DL_SHARED bool last;
  if (thread_index() == 0) {
    gpu::fence();
    uint32_t* const done = reinterpret_cast<uint32_t*>(a.data);
    uint32_t seen = *static_cast<volatile uint32_t*>(done);
    for (uint32_t found; (found = gpu::compare_and_swap(done, seen, seen + 1)) != seen;)
      seen = found;
    gpu::fence();
    last = seen == kBlocks - 1;
  }
  barrier();
  if (!last) return;
  int32_t sum = 0;
  for (int i = 0; i < kBlocks * kThreads; ++i) sum += a.counts[i];
  if (thread_index() == 0) a.data[1] = sum;
}

void read_behind(Arguments a) { a.counts[everyone()] = is_first() ? a.data[kCount] : 0; }
void read_before(Arguments a) { a.counts[everyone()] = is_first() ? a.data[-1] : 0; }
void write_behind(Arguments a) {
  if (is_first()) a.data[kCount] = 1;
}
void write_before(Arguments a) {
  if (is_first()) a.data[-1] = 1;
}
// Beyond the page: the process crashes.
void read_far(Arguments a) { a.counts[everyone()] = is_first() ? a.data[5000] : 0; }
void not_written(Arguments a) { a.counts[everyone()] = is_first() ? a.fresh[2] : 0; }
void shared_not_written(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  if (thread_index() > 0) shared[thread_index()] = 1;
  barrier();
  a.counts[everyone()] = shared[kThreads - 1 - thread_index()];
}
// Data of another block in shared memory is undefined.
void shared_of_another(Arguments a) {
  DL_SHARED int32_t shared;
  if (everyone() == 0) shared = 1;
  barrier();
  a.counts[everyone()] = shared;
}
void not_aligned(Arguments a) {
  if (!is_first()) return;
  auto* const place = reinterpret_cast<char*>(a.data) + 2;
  *reinterpret_cast<int32_t*>(place) = 1;
}
void no_barrier(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  shared[thread_index()] = thread_index();
  a.counts[everyone()] = shared[kThreads - 1 - thread_index()];
}
// A shuffle does not order memory accesses.
void shuffle_for_barrier(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  shared[thread_index()] = static_cast<int32_t>(gpu::shuffle_word(1, 1));
  a.counts[everyone()] = shared[thread_index() ^ 1];
}
// With a single warp, correct without any barrier.
void barrier_of_another_warp(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  shared[thread_index()] = thread_index();
  if (kThreads > gpu::warp_threads()) gpu::warp_barrier();
  a.counts[everyone()] = shared[kThreads - 1 - thread_index()];
}
void writes_what_is_read(Arguments a) {
  DL_SHARED int32_t shared[kThreads];
  shared[thread_index()] = thread_index();
  barrier();
  a.counts[everyone()] = shared[kThreads - 1 - thread_index()];
  shared[thread_index()] = -1;
}
void two_values(Arguments a) {
  if (block_index() == 0) a.data[0] = thread_index();
}
void between_blocks(Arguments a) {
  if (thread_index() == 0) a.data[0] = static_cast<int32_t>(block_index());
}
void atomic_and_plain(Arguments a) {
  if (thread_index() % 2 == 0) {
    gpu::add_at_once(reinterpret_cast<uint32_t*>(a.data), 1u);
  } else {
    a.data[0] = thread_index();
  }
}
void no_fence(Arguments a) {
  a.counts[everyone()] = 1;
  barrier();
  gpu::add_at_once(reinterpret_cast<uint32_t*>(a.data), 1u);
  int32_t sum = 0;
  for (int i = 0; i < kBlocks * kThreads; ++i) sum += a.counts[i];
  if (sum < 0) a.counts[everyone()] = sum;
}
void ends_before(Arguments) {
  if (thread_index() == 5) return;
  barrier();
}
void two_barriers(Arguments) {
  if (thread_index() < 7) {
    barrier();
  } else {
    barrier();
  }
}
void half_shuffles(Arguments a) {
  if (thread_index() % 2 == 0) a.counts[everyone()] = static_cast<int32_t>(gpu::shuffle_word(1, 2));
  barrier();
}

const std::map<std::string, Kernel*> kKernels = {
#define X(name) {#name, name}
    X(clean),
    X(same_value),
    X(atomic_sum),
    X(handed_over),
    X(read_behind),
    X(read_before),
    X(write_behind),
    X(write_before),
    X(read_far),
    X(not_written),
    X(not_aligned),
    X(shared_not_written),
    X(no_barrier),
    X(shared_of_another),
    X(two_values),
    X(writes_what_is_read),
    X(between_blocks),
    X(atomic_and_plain),
    X(no_fence),
    X(ends_before),
    X(two_barriers),
    X(half_shuffles),
    X(within_warp),
    X(shuffle_for_barrier),
    X(barrier_of_another_warp),
#undef X
};

int32_t* cleared(size_t count) {
  auto* const made = static_cast<int32_t*>(emulation::allocate(count * sizeof(int32_t)));
  gpu::clear(nullptr, made, count * sizeof(int32_t));
  return made;
}

}  // namespace

int main(int, char** arguments) {
  const size_t threads = size_t(kBlocks) * kThreads;
  const Arguments given{cleared(kCount), cleared(threads),
                        static_cast<int32_t*>(emulation::allocate(kCount * sizeof(int32_t)))};
  gpu::run_blocks(nullptr, kBlocks, kKernels.at(arguments[1]), given);
  emulation::wait();
  return 0;
}
