// NVIDIA's driver as an Api for dl::kit::Runtime, with the members that dl/kit/runtime.h lists.
#ifndef DL_CUDA_RUNTIME_API_H_
#define DL_CUDA_RUNTIME_API_H_

#include <string>
#include <vector>

#include "dl/kit/driver_calls.h"
#include "dl/kit/nvrtc.h"
#include "dl/kit/runtime.h"
#include "dl/kit/runtime_compiler.h"
#include "runtime/driver.h"

namespace dl::cuda {

class Api : public kit::DriverCalls<kit::CudaDriver, the_driver> {
 public:
  // The driver copies pageable memory to a staging buffer before it returns, or waits.
  static constexpr bool kStagesPageable = true;

  static dl_code_t code(Result result) { return kit::cuda_driver_code(result); }
  // Valid until the thread's next call.
  const char* message(Result result);

  std::string absence() { return cuda::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Devices::here().count(count); }
  Result get_device(int* index);
  Result set_device(int index);
  Result device_synchronize() { return the_driver().context_synchronize(); }
  Result properties(int index, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes);
  Result free(void* memory) { return the_driver().memory_free(driver::address_of(memory)); }
  Result malloc_host(void** memory, size_t bytes);
  // `kind` is 1, 2 or 3: host to device, device to host, or on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream);
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(driver::address_of(memory), static_cast<unsigned char>(value),
                                  bytes, stream);
  }

  // Members for dl/kit/peer.h.
  static constexpr Result kPeerUnsupported = driver::kPeerUnsupported;
  Result can_access(int index, int peer, bool* can) {
    return read_access(Devices::here().device(index), Devices::here().device(peer), can);
  }
  Result enable_access(int peer);
  Result disable_access(int peer);
  Result copy_to_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                      Stream stream);
  Result memory_range(const void* memory, void** base, size_t* bytes);
  Result export_memory(IpcHandle* handle, void* memory) {
    return the_driver().ipc_export(handle, driver::address_of(memory));
  }
  Result open_memory(void** memory, const IpcHandle& handle);
  Result close_memory(void* memory) { return the_driver().ipc_close(driver::address_of(memory)); }

  // Members for dl/kit/kernel.h.
  static constexpr Result kNotFound = driver::kNotFound;
  kit::RuntimeCompiler<kit::Nvrtc>& compiler();
  kit::Nvrtc::Target code_target(int index);
  Result kernel_limits(int index, dl_kernel_properties_t* all);
  Result image_load(Image* image, const void* code, std::string* log);
  Result allow_shared(Kernel kernel, uint64_t bytes) {
    return the_driver().function_set(kernel, driver::kFunctionMaxDynamicShared,
                                     static_cast<int>(bytes));
  }
  bool parameter_sizes(Kernel kernel, std::vector<size_t>* sizes);
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_API_H_
