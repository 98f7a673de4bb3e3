// The machine of nvcc: NVIDIA's GPUs.
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

// The threads of a warp meet; what they wrote before, they see afterwards.
DL_DEVICE void warp_barrier() { __syncwarp(); }

DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return __shfl_xor_sync(0xffffffffu, word, mask);
}

// To global memory. The compiler takes a store of uint4 apart where it is one of two branches.
DL_DEVICE void store_words(void* to, const uint32_t (&words)[4]) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_CUDA_H_
