// Machine definitions for hipcc: AMD GPUs.
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

// Synchronize the threads of a warp and order their memory accesses.
DL_DEVICE void warp_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  __builtin_amdgcn_wave_barrier();
}

DL_DEVICE uint32_t shuffle_word(uint32_t word, int mask) {
  return static_cast<uint32_t>(__shfl_xor(static_cast<int>(word), mask));
}

DL_FN int64_t wide_product(int32_t a, int32_t b) { return int64_t(a) * b; }
DL_FN uint64_t wide_product(uint32_t a, uint32_t b) { return uint64_t(a) * b; }

#if defined(__HIP_DEVICE_COMPILE__)
#define DL_HALF_INSTRUCTIONS 1
DL_FN float float_of_half(uint16_t half) {
  _Float16 value;
  __builtin_memcpy(&value, &half, sizeof(value));
  return static_cast<float>(value);
}
DL_FN uint16_t half_of_float(float value) {
  const _Float16 rounded = static_cast<_Float16>(value);
  uint16_t half;
  __builtin_memcpy(&half, &rounded, sizeof(half));
  return half;
}
DL_FN uint32_t half_pair_of_floats(float low, float high) {
  return half_of_float(low) | static_cast<uint32_t>(half_of_float(high)) << 16;
}
#endif
DL_DEVICE void store_words(void* to, const uint32_t (&words)[4]) {
  *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_MACHINE_HIP_H_
