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

DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return static_cast<uint32_t>(__shfl_xor(static_cast<int>(word), mask));
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_HIP_H_
