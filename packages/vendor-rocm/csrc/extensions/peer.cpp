// Peer access and memory of other processes, for dl/kit/peer.h.
#include "runtime/api.h"

namespace dl::rocm {

// HIP records an expected failure as the thread's last error, which must be cleared.
Api::Result Api::ignore(Result expected, Result result) {
  if (result != expected) return result;
  clear_error();
  return driver::kSuccess;
}

Api::Result Api::enable_access(int peer) {
  return ignore(driver::kPeerEnabled, the_driver().enable_access(Devices::here().device(peer), 0));
}

Api::Result Api::disable_access(int peer) {
  return ignore(driver::kPeerNotEnabled, the_driver().disable_access(Devices::here().device(peer)));
}

Api::Result Api::copy_to_peer(void* to, int to_device, const void* from, int from_device,
                              size_t bytes, Stream stream) {
  return the_driver().copy_to_peer(to, Devices::here().device(to_device), from,
                                   Devices::here().device(from_device), bytes, stream);
}

Api::Result Api::memory_range(const void* memory, void** base, size_t* bytes) {
  return the_driver().memory_range(base, bytes, const_cast<void*>(memory));
}

// Each release accepts only the flag value of its own headers.
Api::Result Api::open_memory(void** memory, const IpcHandle& handle) {
  const Result later = the_driver().ipc_open(memory, handle, driver::kIpcLazyPeerAccess6);
  if (later != driver::kInvalidValue) return later;
  const Result earlier = the_driver().ipc_open(memory, handle, driver::kIpcLazyPeerAccess5);
  if (earlier == driver::kSuccess) clear_error();
  return earlier;
}

}  // namespace dl::rocm
