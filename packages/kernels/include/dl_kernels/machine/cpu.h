// Machine definitions for g++ and clang++: one core with vector instructions.
#ifndef DL_KERNELS_MACHINE_CPU_H_
#define DL_KERNELS_MACHINE_CPU_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

#define DL_KERNELS_GPU 0
#define DL_FN inline __attribute__((always_inline))
#define DL_COLD_FN inline __attribute__((noinline, cold))
#define DL_CALLED_FN inline __attribute__((noinline))
#define DL_UNROLL _Pragma("GCC unroll 32")
#define DL_VECTOR_LOOP _Pragma("GCC ivdep")

DL_KERNELS_BEGIN

inline constexpr int64_t kScratchElements = 32768;

DL_FN void store_relaxed(bool* to, bool value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }
DL_FN bool load_relaxed(const bool* from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_CPU_H_
