// Machine definitions for nvcc and NVIDIA GPUs, such as warp shuffles.
#ifndef DL_KERNELS_MACHINE_CUDA_H_
#define DL_KERNELS_MACHINE_CUDA_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "dl_kernels/base/config.h"

#define DL_GPU(name) cuda##name
#include "dl_kernels/machine/runtime_api.h"
#undef DL_GPU

DL_KERNELS_BEGIN

namespace gpu {

DL_DEVICE constexpr int warp_threads() { return 32; }

// Synchronize the threads of a warp and order their memory accesses.
DL_DEVICE void warp_barrier() { __syncwarp(); }

DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return __shfl_xor_sync(0xffffffffu, word, mask);
}

// mul.wide in PTX: for the C++ expression nvcc emits a 64-bit multiplication of more instructions,
// repeated in a loop for each address derived from it.
DL_FN int64_t wide_product(int32_t a, int32_t b) {
#if defined(__CUDA_ARCH__)
  int64_t product;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return int64_t(a) * b;
#endif
}
DL_FN uint64_t wide_product(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
  uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return uint64_t(a) * b;
#endif
}

// Conversions in PTX: CUDA's headers for them take longer to compile than most families.
#if defined(__CUDA_ARCH__)
#define DL_HALF_INSTRUCTIONS 1
DL_FN float float_of_half(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
DL_FN uint16_t half_of_float(float value) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
DL_FN uint32_t half_pair_of_floats(float low, float high) {
#if __CUDA_ARCH__ >= 800
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return half_of_float(low) | static_cast<uint32_t>(half_of_float(high)) << 16;
#endif
}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define DL_BFLOAT16_INSTRUCTIONS 1
DL_FN uint16_t bfloat16_of_float(float value) {
  uint16_t half;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
DL_FN uint32_t bfloat16_pair_of_floats(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
#endif

// Store to global memory. The compiler splits a store of uint4 if it is in one of two branches.
DL_DEVICE void store_words(void* to, const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace gpu

DL_KERNELS_END

#include "dl_kernels/machine/cuda_matrix.h"

#endif  // DL_KERNELS_MACHINE_CUDA_H_
