// Access to device memory for the fake NCCL, through the driver: CUDA's, or HIP's if FAKE_NCCL_HIP
// is defined.
#ifndef FAKE_NCCL_DEVICE_MEMORY_H_
#define FAKE_NCCL_DEVICE_MEMORY_H_

#include <cstdlib>
#include <string>

#ifdef FAKE_NCCL_HIP
#include "dl/kit/hip_driver.h"
#else
#include "dl/kit/cuda_driver.h"
#endif

namespace device_memory {

#ifdef FAKE_NCCL_HIP
using Driver = dl::kit::HipDriver;
using Device = int;  // the current device
constexpr const char* kVariable = "DL_ROCM_DRIVER";
constexpr Device kNone = -1;
#else
using Driver = dl::kit::CudaDriver;
using Device = dl::kit::cuda::Context;
constexpr const char* kVariable = "DL_CUDA_DRIVER";
constexpr Device kNone = nullptr;
#endif
using Stream = Driver::Stream;

inline Driver& driver() {
  const char* const named = std::getenv(kVariable);
  static Driver found({named == nullptr ? "" : named});
  return found;
}

// These return the driver's error code.
#ifdef FAKE_NCCL_HIP
inline int current(Device* device) { return driver().device_current(device); }
inline int make_current(Device device) { return driver().device_set(device); }
inline int read(void* to, const void* from, size_t bytes, Stream stream) {
  return driver().copy(to, from, bytes, dl::kit::hip::kDeviceToHost, stream);
}
inline int write(void* to, const void* from, size_t bytes, Stream stream) {
  return driver().copy(to, from, bytes, dl::kit::hip::kHostToDevice, stream);
}
#else
inline int current(Device* device) { return driver().context_current(device); }
inline int make_current(Device device) { return driver().context_set(device); }
inline int read(void* to, const void* from, size_t bytes, Stream stream) {
  return driver().copy_to_host(to, dl::kit::cuda::address_of(from), bytes, stream);
}
inline int write(void* to, const void* from, size_t bytes, Stream stream) {
  return driver().copy_to_device(dl::kit::cuda::address_of(to), from, bytes, stream);
}
#endif

}  // namespace device_memory

#endif  // FAKE_NCCL_DEVICE_MEMORY_H_
