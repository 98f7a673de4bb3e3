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

}  // namespace gpu

DL_KERNELS_END

#include "dl_kernels/machine/cuda_matrix.h"

#endif  // DL_KERNELS_MACHINE_CUDA_H_
