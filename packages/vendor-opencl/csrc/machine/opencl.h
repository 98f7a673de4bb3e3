// Machine definitions for OpenCL devices: clang's HIP front end compiles kernels to SPIR-V, and
// calls OpenCL's built-in functions by their mangled names, which the SPIR-V translator knows.
#ifndef DL_OPENCL_MACHINE_OPENCL_H_
#define DL_OPENCL_MACHINE_OPENCL_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dl_kernels/base/config.h"
#include "machine/launch.h"

#define DL_KERNELS_GPU 1
#define DL_OPENCL_BOTH __attribute__((host, device))
#define DL_FN DL_OPENCL_BOTH inline __attribute__((always_inline))
#define DL_COLD_FN DL_OPENCL_BOTH inline __attribute__((noinline))
#define DL_CALLED_FN DL_COLD_FN
#define DL_UNROLL _Pragma("unroll")
#define DL_NO_UNROLL _Pragma("clang loop unroll(disable)")
#define DL_VECTOR_LOOP

// The size of a work-group and of its sub-groups is added to the compiled kernels, because HIP has
// no attribute for it: dl_kernels.spirv.
#define DL_KERNEL __attribute__((global))
#define DL_KERNEL_FOR_BLOCKS(blocks) DL_KERNEL
#define DL_DEVICE __attribute__((device)) inline __attribute__((always_inline))
#define DL_SHARED __attribute__((shared))

// Declarations that clang needs before it compiles a kernel's host stub, which is never called.
struct dim3 {
  unsigned x, y, z;
};
using hipError_t = int;
using hipStream_t = void*;
extern "C" hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t);

extern "C" {
// OpenCL's built-in functions: get_local_id, get_group_id, get_num_groups, barrier,
// sub_group_shuffle_xor, mul_hi.
__attribute__((device, const)) size_t _Z12get_local_idj(unsigned);
__attribute__((device, const)) size_t _Z12get_group_idj(unsigned);
__attribute__((device, const)) size_t _Z14get_num_groupsj(unsigned);
__attribute__((device, convergent)) void _Z7barrierj(unsigned);
__attribute__((device, convergent)) uint32_t _Z21sub_group_shuffle_xorjj(uint32_t, uint32_t);
__attribute__((device, const)) uint64_t _Z6mul_himm(uint64_t, uint64_t);
// Functions of device/atomics.cl. All atomics of the kernels are on global memory.
__attribute__((device)) uint32_t dl_compare_and_swap_32(uint32_t*, uint32_t, uint32_t);
__attribute__((device)) uint64_t dl_compare_and_swap_64(uint64_t*, uint64_t, uint64_t);
__attribute__((device)) void dl_add_32(uint32_t*, uint32_t);
__attribute__((device)) void dl_add_64(uint64_t*, uint64_t);
__attribute__((device)) void dl_add_float(float*, float);
__attribute__((device)) void dl_add_double(double*, double);
__attribute__((device)) void dl_fence();
}

DL_KERNELS_BEGIN

inline constexpr int64_t kScratchElements = int64_t(1) << 24;

// A byte is read and written atomically; volatile, because threads access it concurrently.
DL_FN void store_relaxed(bool* to, bool value) { *static_cast<volatile bool*>(to) = value; }
DL_FN bool load_relaxed(const bool* from) { return *static_cast<const volatile bool*>(from); }

namespace gpu {

using Stream = void*;

inline constexpr int kThreads = DL_OPENCL_GROUP_THREADS;  // of a work-group

DL_DEVICE int thread_index() { return static_cast<int>(_Z12get_local_idj(0)); }
DL_DEVICE int64_t block_index() { return static_cast<int64_t>(_Z12get_group_idj(0)); }
DL_DEVICE int64_t block_count() { return static_cast<int64_t>(_Z14get_num_groupsj(0)); }
// A warp is a sub-group, or the whole work-group on devices without sub-groups:
// dl_kernels.spirv_unit compiles the kernels for both, and defines DL_SPIRV_WARP_THREADS.
DL_DEVICE constexpr int warp_threads() { return DL_SPIRV_WARP_THREADS; }

constexpr unsigned kLocalAndGlobal = 3;  // CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE
DL_DEVICE void barrier() { _Z7barrierj(kLocalAndGlobal); }
#if DL_SPIRV_WARP_THREADS < DL_OPENCL_GROUP_THREADS
// Sub-groups run in lockstep up to the next shuffle, so their memory accesses need only ordering.
// Intel's runtime for CPUs mixes up values at sub_group_barrier in a branch that only some
// sub-groups take.
DL_DEVICE void warp_barrier() { dl_fence(); }
DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return _Z21sub_group_shuffle_xorjj(word, static_cast<uint32_t>(mask));
}
#else
#define DL_KERNELS_NO_SHUFFLES 1
DL_DEVICE void warp_barrier() { barrier(); }
#endif
// Make the thread's earlier writes visible before its later ones.
DL_DEVICE void fence() { dl_fence(); }

DL_FN int64_t wide_product(int32_t a, int32_t b) { return int64_t(a) * b; }
DL_FN uint64_t wide_product(uint32_t a, uint32_t b) { return uint64_t(a) * b; }

#if defined(__HIP_DEVICE_COMPILE__)
// SPIR-V has no integers of 128 bits.
#define DL_UPPER_PRODUCT_INSTRUCTION 1
DL_DEVICE uint64_t upper_product(uint64_t a, uint64_t b) { return _Z6mul_himm(a, b); }
#endif

struct alignas(16) FourWords {
  uint32_t word[4];
};
// Load and store 16 bytes at once, at an aligned address.
DL_DEVICE void load_words(const void* from, uint32_t (&words)[4]) {
  const FourWords loaded = *static_cast<const FourWords*>(from);
  for (int i = 0; i < 4; ++i) words[i] = loaded.word[i];
}
DL_DEVICE void store_words(void* to, const uint32_t (&words)[4]) {
  *static_cast<FourWords*>(to) = {{words[0], words[1], words[2], words[3]}};
}

// Atomic compare-and-swap: return the previous word; `wanted` is stored if that was `expected`.
DL_DEVICE uint32_t compare_and_swap(uint32_t* at, uint32_t expected, uint32_t wanted) {
  return dl_compare_and_swap_32(at, expected, wanted);
}
DL_DEVICE uint64_t compare_and_swap(uint64_t* at, uint64_t expected, uint64_t wanted) {
  return dl_compare_and_swap_64(at, expected, wanted);
}
DL_DEVICE void add_at_once(uint32_t* to, uint32_t value) { dl_add_32(to, value); }
DL_DEVICE void add_at_once(uint64_t* to, uint64_t value) { dl_add_64(to, value); }
DL_DEVICE void add_at_once(float* to, float value) { dl_add_float(to, value); }
DL_DEVICE void add_at_once(double* to, double value) { dl_add_double(to, value); }

#if defined(__HIP_DEVICE_COMPILE__)
// Device code launches nothing; there, a kernel has a calling convention that void (*)(P...) does
// not match.
template <class K, class... A>
void run_blocks(Stream, int64_t, K*, const A&...) {}
#else
// Launch threads that synchronize at barriers. The address of a kernel identifies it: clang
// registers it with its name.
template <class... P, class... A>
void run_blocks(Stream stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  [&](const P&... values) {
    const opencl::Argument all[] = {{&values, sizeof(P), std::is_pointer_v<P>}...};
    opencl::launch(stream, reinterpret_cast<const void*>(kernel), blocks, kThreads, all,
                   sizeof...(P));
  }(static_cast<P>(arguments)...);
}
#endif

// Launch independent threads.
template <class K, class... A>
void run_threads(Stream stream, int64_t blocks, K* kernel, const A&... arguments) {
  run_blocks(stream, blocks, kernel, arguments...);
}

inline void copy(Stream stream, void* to, const void* from, size_t bytes) {
  opencl::copy_on_device(stream, to, from, bytes);
}
inline void clear(Stream stream, void* to, size_t bytes) {
  opencl::clear_on_device(stream, to, bytes);
}
// Copy to host memory, and wait.
inline void fetch(Stream stream, void* to, const void* from, size_t bytes) {
  opencl::fetch_from_device(stream, to, from, bytes);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_OPENCL_MACHINE_OPENCL_H_
