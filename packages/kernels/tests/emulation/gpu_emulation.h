// A GPU emulated by ordinary code, to run the kernels' GPU path on a CPU: blocks run one after
// another in random order, the threads of a block are fibers in random order, and only the
// guarantees of barriers and shuffles hold. Launches are queued until the host waits, when the
// caller's stack is gone; device memory is accessible to queued work only. Units that are compiled
// with -fsanitize=thread are also watched: watch.h.
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
#define DL_CALLED_FN inline
#define DL_UNROLL
#define DL_NO_UNROLL
#define DL_VECTOR_LOOP

#define DL_KERNEL static
#define DL_KERNEL_FOR_BLOCKS(blocks) static
#define DL_DEVICE inline
#define DL_SHARED static

namespace emulation {

// The machine's shape, the same in all units of a program.
#ifndef DL_EMULATION_BLOCK_THREADS
#define DL_EMULATION_BLOCK_THREADS 64
#endif
#ifndef DL_EMULATION_WARP_THREADS
#define DL_EMULATION_WARP_THREADS 32
#endif
inline constexpr int kBlockThreads = DL_EMULATION_BLOCK_THREADS;
// Threads of a warp, for later launches; DL_EMULATION_WARP_THREADS by default.
int warp_threads();
void set_warp_threads(int threads);

// Indices of the running thread.
struct Position {
  int thread;
  int64_t block, blocks;
};
Position position();

// Barriers are identified by their return address: threads that wait for each other must wait at
// the same one.
void barrier();
void warp_barrier();
uint32_t shuffle_word(uint32_t word, int mask);

// Append work to the queue. `kernel` is its name, if it is a kernel.
void enqueue(std::function<void()> work, const char* kernel = nullptr);
// Run the queue.
void wait();

// Run a part of a launch: every thread of every block, with or without barriers.
void run_fibers(int64_t blocks, const std::function<void()>& thread);
void run_in_turn(int64_t blocks, const std::function<void()>& thread);

// Total and free device memory, in bytes.
inline constexpr uint64_t kMemory = uint64_t(1) << 30;
uint64_t free_memory();
// Null if there is not enough free memory.
void* allocate(size_t bytes);
void release(void* memory);
// memmove and memset for device memory; they mark the bytes as initialized.
void copy_bytes(void* to, const void* from, size_t bytes);
void fill_bytes(void* to, int value, size_t bytes);
// Wait, and copy while the device memory is accessible.
void copy_now(void* to, const void* from, size_t bytes);
// The same for a kernel's result that its operator reads, and the number of such calls.
void fetch(void* to, const void* from, size_t bytes);
uint64_t fetches();

}  // namespace emulation

DL_KERNELS_BEGIN

inline constexpr int64_t kScratchElements = 2048;  // small, so that operators need several passes

inline void store_relaxed(bool* to, bool value) { *static_cast<volatile bool*>(to) = value; }
inline bool load_relaxed(const bool* from) { return *static_cast<const volatile bool*>(from); }

namespace gpu {

using Stream = void*;

inline constexpr int kThreads = emulation::kBlockThreads;

inline int thread_index() { return emulation::position().thread; }
inline int64_t block_index() { return emulation::position().block; }
inline int64_t block_count() { return emulation::position().blocks; }
inline int warp_threads() { return emulation::warp_threads(); }
__attribute__((always_inline)) inline void barrier() { emulation::barrier(); }
__attribute__((always_inline)) inline void warp_barrier() { emulation::warp_barrier(); }
inline int64_t wide_product(int32_t a, int32_t b) { return int64_t(a) * b; }
inline uint64_t wide_product(uint32_t a, uint32_t b) { return uint64_t(a) * b; }
inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__attribute__((always_inline)) inline uint32_t shuffle_word(uint32_t word, int mask) {
  return emulation::shuffle_word(word, mask);
}

inline void load_words(const void* from, uint32_t (&words)[4]) {
  std::memcpy(words, from, sizeof(words));
}
inline void store_words(void* to, const uint32_t (&words)[4]) {
  std::memcpy(to, words, sizeof(words));
}

// Fibers never interleave here; a check with operating-system threads does.
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

}  // namespace gpu

DL_KERNELS_END

// How work reaches the threads: through the queue, or as defined by a header that the build names.
#if defined(DL_EMULATION_LAUNCH)
#include DL_EMULATION_LAUNCH
#else

DL_KERNELS_BEGIN

namespace gpu {

template <class... P, class... A>
void run_blocks(Stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulation::enqueue(
      [=] { emulation::run_fibers(blocks, [&] { kernel(static_cast<P>(arguments)...); }); },
      __PRETTY_FUNCTION__);
}

template <class... P, class... A>
void run_threads(Stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulation::enqueue(
      [=] { emulation::run_in_turn(blocks, [&] { kernel(static_cast<P>(arguments)...); }); },
      __PRETTY_FUNCTION__);
}

inline void copy(Stream, void* to, const void* from, size_t bytes) {
  emulation::enqueue([=] { emulation::copy_bytes(to, from, bytes); });
}

inline void clear(Stream, void* to, size_t bytes) {
  emulation::enqueue([=] { emulation::fill_bytes(to, 0, bytes); });
}

inline void fetch(Stream, void* to, const void* from, size_t bytes) {
  emulation::fetch(to, from, bytes);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_EMULATION_LAUNCH

#endif  // DL_KERNELS_TESTS_GPU_EMULATION_H_
