// A GPU made of ordinary code, to run the kernels' GPU path where there is none: blocks run one
// after another, the threads of a block as fibers in random order, and only what a barrier or a
// shuffle promises is kept. Launches are queued until somebody waits, when the stack of their
// caller is gone; device memory can be touched by queued work alone.
#ifndef DL_KERNELS_TESTS_GPU_EMULATION_H_
#define DL_KERNELS_TESTS_GPU_EMULATION_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "dl_kernels/base/config.h"

#define DL_KERNELS_GPU 1
#define DL_FN inline
#define DL_COLD_FN inline
#define DL_UNROLL
#define DL_ONE_BY_ONE
#define DL_VECTOR_LOOP

#define DL_KERNEL static
#define DL_DEVICE inline
#define DL_SHARED static

namespace emulation {

inline constexpr int kBlockThreads = 64;
inline constexpr int kWarpThreads = 32;

// What the running thread sees.
struct Position {
  int thread;
  int64_t block, blocks;
};
Position position();

void barrier();
uint32_t shuffle_word(uint32_t word, int mask);

// To the end of the queue.
void enqueue(std::function<void()> work);
// Runs the queue.
void wait();

// Parts of a launch: every thread of every block, together or each for itself.
void run_fibers(int64_t blocks, const std::function<void()>& thread);
void run_in_turn(int64_t blocks, const std::function<void()>& thread);

void* allocate(size_t bytes);
void release(void* memory);
// Waits, and copies with the device memory open.
void copy_now(void* to, const void* from, size_t bytes);
// The same for a kernel's answer to its operator, and how often that was.
void fetch(void* to, const void* from, size_t bytes);
uint64_t fetches();

}  // namespace emulation

DL_KERNELS_BEGIN

inline constexpr int64_t kScratchElements = 2048;  // few: operators must take several turns

inline void store_relaxed(bool* to, bool value) { *to = value; }
inline bool load_relaxed(const bool* from) { return *from; }

namespace gpu {

using Stream = void*;

inline constexpr int kThreads = emulation::kBlockThreads;

inline int thread_index() { return emulation::position().thread; }
inline int64_t block_index() { return emulation::position().block; }
inline int64_t block_count() { return emulation::position().blocks; }
inline int warp_threads() { return emulation::kWarpThreads; }
inline void barrier() { emulation::barrier(); }
inline void warp_barrier() { emulation::shuffle_word(0, 0); }
inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline uint32_t shuffle_word(uint32_t word, int mask) {
  return emulation::shuffle_word(word, mask);
}

inline void load_words(const void* from, uint32_t (&words)[4]) {
  std::memcpy(words, from, sizeof(words));
}
inline void store_words(void* to, const uint32_t (&words)[4]) {
  std::memcpy(to, words, sizeof(words));
}

// Fibers never meet in these; a check with threads of the system does.
template <class T>
T compare_and_swap(T* at, T expected, T wanted) {
  __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T>
void add_at_once(T* to, T value) {
  T seen, sum;
  __atomic_load(to, &seen, __ATOMIC_RELAXED);
  do {
    sum = seen + value;
  } while (!__atomic_compare_exchange(to, &seen, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

template <class... P, class... A>
void run_blocks(Stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulation::enqueue(
      [=] { emulation::run_fibers(blocks, [&] { kernel(static_cast<P>(arguments)...); }); });
}

template <class... P, class... A>
void run_threads(Stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulation::enqueue(
      [=] { emulation::run_in_turn(blocks, [&] { kernel(static_cast<P>(arguments)...); }); });
}

inline void copy(Stream, void* to, const void* from, size_t bytes) {
  emulation::enqueue([=] { std::memmove(to, from, bytes); });
}

inline void clear(Stream, void* to, size_t bytes) {
  emulation::enqueue([=] { std::memset(to, 0, bytes); });
}

inline void fetch(Stream, void* to, const void* from, size_t bytes) {
  emulation::fetch(to, from, bytes);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_TESTS_GPU_EMULATION_H_
