// The machine of hipcc: AMD's GPUs.
#ifndef DL_KERNELS_MACHINE_HIP_H_
#define DL_KERNELS_MACHINE_HIP_H_

#include <hip/hip_runtime.h>

#include <cstdint>

#include "dl_kernels/base/config.h"

#define DL_GPU(name) hip##name
#include "dl_kernels/machine/runtime_api.h"
#undef DL_GPU

DL_KERNELS_BEGIN

namespace gpu {

DL_DEVICE int warp_threads() { return warpSize; }

// The threads of a warp meet; what they wrote before, they see afterwards.
DL_DEVICE void warp_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  __builtin_amdgcn_wave_barrier();
}

DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return static_cast<uint32_t>(__shfl_xor(static_cast<int>(word), mask));
}

DL_DEVICE void store_words(void* to, const uint32_t (&words)[4]) {
  *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_HIP_H_
