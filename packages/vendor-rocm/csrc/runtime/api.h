// AMD's HIP runtime as dl::kit::Runtime wants a driver: the members that dl/kit/runtime.h lists.
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

// Copies of pageable memory are waited for (kStagesPageable is not set): HIP promises nowhere that
// it has read the host's memory when it returns.
class Api : public kit::DriverCalls<kit::HipDriver, the_driver> {
 public:
  static dl_code_t code(Result result) { return kit::hip_driver_code(result); }
  // Kept for the thread.
  const char* message(Result result);
  // HIP keeps failures of the thread for whoever asks next, which others in the process do.
  void clear_error() { (void)the_driver().take_last_error(); }

  std::string absence() { return rocm::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Cards::here().count(count); }
  Result get_device(int* card);
  Result set_device(int card) { return the_driver().device_set(Cards::here().device(card)); }
  Result device_synchronize() { return the_driver().device_synchronize(); }
  Result properties(int card, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes) { return the_driver().memory_allocate(memory, bytes); }
  Result free(void* memory) { return the_driver().memory_free(memory); }
  Result memory_info(size_t* free_bytes, size_t* total) {
    return the_driver().memory_info(free_bytes, total);
  }
  Result malloc_host(void** memory, size_t bytes) {
    constexpr unsigned kPortable = 1;  // page-locked for all cards
    return the_driver().host_allocate(memory, bytes, kPortable);
  }
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: to the device, to the host, on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream) {
    return the_driver().copy(to, from, bytes, kind, stream);
  }
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(memory, value, bytes, stream);
  }

  // What dl/kit/peer.h wants.
  static constexpr Result kPeerUnsupported = driver::kPeerUnsupported;
  Result can_access(int card, int peer, bool* can);
  Result enable_access(int peer);
  Result disable_access(int peer);
  Result copy_to_peer(void* to, int to_card, const void* from, int from_card, size_t bytes,
                      Stream stream);
  Result memory_range(const void* memory, void** base, size_t* bytes);
  Result export_memory(IpcHandle* handle, void* memory) {
    return the_driver().ipc_export(handle, memory);
  }
  Result open_memory(void** memory, const IpcHandle& handle);
  Result close_memory(void* memory) { return the_driver().ipc_close(memory); }

  // What dl/kit/kernel.h wants.
  static constexpr Result kNotFound = driver::kNotFound;
  kit::RuntimeCompiler<kit::Hiprtc>& compiler();
  kit::Hiprtc::Target code_target(int card);
  Result kernel_limits(int card, dl_kernel_properties_t* all);
  // HIP keeps no log of what it loads.
  Result image_load(Image* image, const void* code, std::string*) {
    return the_driver().module_load(image, code);
  }
  // A launch gets what the card has without being allowed to.
  Result allow_shared(Kernel, uint64_t) { return driver::kSuccess; }
  bool parameter_sizes(Kernel, std::vector<size_t>*) { return false; }

 private:
  Result unless(Result as_it_should_be, Result result);
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_API_H_
