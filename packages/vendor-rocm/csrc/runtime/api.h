// AMD's HIP runtime as an Api for dl::kit::Runtime, with the members that dl/kit/runtime.h lists.
#ifndef DL_ROCM_RUNTIME_API_H_
#define DL_ROCM_RUNTIME_API_H_

#include <string>
#include <vector>

#include "dl/kit/driver_calls.h"
#include "dl/kit/hiprtc.h"
#include "dl/kit/runtime.h"
#include "dl/kit/runtime_compiler.h"
#include "runtime/driver.h"

namespace dl::rocm {

// Copies of pageable memory are waited for (kStagesPageable is not set), because HIP does not
// guarantee that it has read the host memory when it returns.
class Api : public kit::DriverCalls<kit::HipDriver, the_driver> {
 public:
  static dl_code_t code(Result result) { return kit::hip_driver_code(result); }
  // Valid until the thread's next call.
  const char* message(Result result);
  // HIP keeps the thread's last error for the next query, which other code in the process may make.
  void clear_error() { (void)the_driver().take_last_error(); }

  std::string absence() { return rocm::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Devices::here().count(count); }
  Result get_device(int* index);
  Result set_device(int index) { return the_driver().device_set(Devices::here().device(index)); }
  Result device_synchronize() { return the_driver().device_synchronize(); }
  Result properties(int index, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes) { return the_driver().memory_allocate(memory, bytes); }
  Result free(void* memory) { return the_driver().memory_free(memory); }
  Result malloc_host(void** memory, size_t bytes) {
    constexpr unsigned kPortable = 1;  // page-locked for all devices
    return the_driver().host_allocate(memory, bytes, kPortable);
  }
  // `kind` is 1, 2 or 3: host to device, device to host, or on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
    return the_driver().copy(to, from, bytes, kind, stream);
  }
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(memory, value, bytes, stream);
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
    return the_driver().ipc_export(handle, memory);
  }
  Result open_memory(void** memory, const IpcHandle& handle);
  Result close_memory(void* memory) { return the_driver().ipc_close(memory); }

  // Members for dl/kit/kernel.h.
  static constexpr Result kNotFound = driver::kNotFound;
  kit::RuntimeCompiler<kit::Hiprtc>& compiler();
  kit::Hiprtc::Target code_target(int index);
  Result kernel_limits(int index, dl_kernel_properties_t* all);
  // HIP has no log of module loading.
  Result image_load(Image* image, const void* code, std::string*) {
    return the_driver().module_load(image, code);
  }
  // Kernels may use all shared memory without opting in.
  Result allow_shared(Kernel, uint64_t) { return driver::kSuccess; }
  bool parameter_sizes(Kernel, std::vector<size_t>*) { return false; }

 private:
  Result ignore(Result expected, Result result);
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_API_H_
