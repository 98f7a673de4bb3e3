// Code shared by CUDA and HIP, whose function names differ only in their prefix; the including
// header defines it as DL_GPU.
#ifndef DL_KERNELS_MACHINE_RUNTIME_API_H_
#define DL_KERNELS_MACHINE_RUNTIME_API_H_

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dl_kernels/base/config.h"

#define DL_KERNELS_GPU 1
#define DL_FN __host__ __device__ __forceinline__
#define DL_COLD_FN __host__ __device__ __noinline__
#define DL_CALLED_FN DL_COLD_FN
#define DL_UNROLL _Pragma("unroll")
#define DL_NO_UNROLL _Pragma("unroll 1")
#define DL_VECTOR_LOOP

#define DL_KERNEL __global__ __launch_bounds__(::dl::kernels::gpu::kThreads)
// Limit registers so that this many blocks fit on a multiprocessor.
#if defined(__HIPCC__)
#define DL_KERNEL_FOR_BLOCKS(blocks) DL_KERNEL
#else
#define DL_KERNEL_FOR_BLOCKS(blocks) \
  __global__ __launch_bounds__(::dl::kernels::gpu::kThreads, blocks)
#endif
#define DL_DEVICE __device__ __forceinline__
#define DL_SHARED __shared__

DL_KERNELS_BEGIN

inline constexpr int64_t kScratchElements = int64_t(1) << 24;

// A byte is read and written atomically; volatile, because threads access it concurrently.
DL_FN void store_relaxed(bool* to, bool value) { *static_cast<volatile bool*>(to) = value; }
DL_FN bool load_relaxed(const bool* from) { return *static_cast<const volatile bool*>(from); }

namespace gpu {

using Stream = DL_GPU(Stream_t);

inline constexpr int kThreads = 256;  // of a block

DL_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
DL_DEVICE int64_t block_index() { return blockIdx.x; }
DL_DEVICE int64_t block_count() { return gridDim.x; }
DL_DEVICE void barrier() { __syncthreads(); }
// Make the thread's earlier writes visible before its later ones.
DL_DEVICE void fence() { __threadfence(); }

// Load 16 bytes at once from an aligned address; the machine's store_words is its counterpart.
DL_DEVICE void load_words(const void* from, uint32_t (&words)[4]) {
  const uint4 loaded = *static_cast<const uint4*>(from);
  words[0] = loaded.x;
  words[1] = loaded.y;
  words[2] = loaded.z;
  words[3] = loaded.w;
}
// Atomic compare-and-swap: return the previous word; `wanted` is stored if that was `expected`.
DL_DEVICE uint32_t compare_and_swap(uint32_t* at, uint32_t expected, uint32_t wanted) {
  return atomicCAS(at, expected, wanted);
}
DL_DEVICE uint64_t compare_and_swap(uint64_t* at, uint64_t expected, uint64_t wanted) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(at), expected, wanted);
}
DL_DEVICE void add_at_once(float* to, float value) { (void)atomicAdd(to, value); }
DL_DEVICE void add_at_once(double* to, double value) { (void)atomicAdd(to, value); }
DL_DEVICE void add_at_once(uint32_t* to, uint32_t value) { (void)atomicAdd(to, value); }
DL_DEVICE void add_at_once(uint64_t* to, uint64_t value) {
  (void)atomicAdd(reinterpret_cast<unsigned long long*>(to), value);
}

inline void check(DL_GPU(Error_t) status, const char* what) {
  if (status == DL_GPU(Success)) return;
  throw std::runtime_error(std::string(what) + ": " + DL_GPU(GetErrorString)(status));
}

// Launch threads that synchronize at barriers.
template <class... P, class... A>
void run_blocks(Stream stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  // clang-format does not know the launch syntax.
  // clang-format off
  kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments...);
  // clang-format on
  check(DL_GPU(GetLastError)(), "a kernel could not be launched");
}

// Launch independent threads.
template <class... P, class... A>
void run_threads(Stream stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  run_blocks(stream, blocks, kernel, arguments...);
}

inline void copy(Stream stream, void* to, const void* from, size_t bytes) {
  check(DL_GPU(MemcpyAsync)(to, from, bytes, DL_GPU(MemcpyDeviceToDevice), stream),
        "a copy on the device failed");
}

inline void clear(Stream stream, void* to, size_t bytes) {
  check(DL_GPU(MemsetAsync)(to, 0, bytes, stream), "memory of the device could not be cleared");
}

// Copy to host memory, and wait.
inline void fetch(Stream stream, void* to, const void* from, size_t bytes) {
  check(DL_GPU(MemcpyAsync)(to, from, bytes, DL_GPU(MemcpyDeviceToHost), stream),
        "a result could not be read from the device");
  check(DL_GPU(StreamSynchronize)(stream), "waiting for a result failed");
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_RUNTIME_API_H_
