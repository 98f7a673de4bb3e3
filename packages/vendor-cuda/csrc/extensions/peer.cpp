// Peer access and memory of other processes, for dl/kit/peer.h.
#include "runtime/api.h"

namespace dl::cuda {

Api::Result Api::enable_access(int peer) {
  driver::Context there = nullptr;
  if (const Result failed = Devices::here().context(peer, &there)) return failed;
  const Result result = the_driver().enable_access(there, 0);
  return result == driver::kPeerEnabled ? driver::kSuccess : result;
}

Api::Result Api::disable_access(int peer) {
  driver::Context there = nullptr;
  if (const Result failed = Devices::here().context(peer, &there)) return failed;
  const Result result = the_driver().disable_access(there);
  return result == driver::kPeerNotEnabled ? driver::kSuccess : result;
}

Api::Result Api::copy_to_peer(void* to, int to_device, const void* from, int from_device,
                              size_t bytes, Stream stream) {
  driver::Context there = nullptr, here = nullptr;
  if (const Result failed = Devices::here().context(to_device, &there)) return failed;
  if (const Result failed = Devices::here().context(from_device, &here)) return failed;
  return the_driver().copy_to_peer(driver::address_of(to), there, driver::address_of(from), here,
                                   bytes, stream);
}

Api::Result Api::memory_range(const void* memory, void** base, size_t* bytes) {
  driver::Address first = 0;
  const Result result = the_driver().memory_range(&first, bytes, driver::address_of(memory));
  *base = reinterpret_cast<void*>(first);
  return result;
}

Api::Result Api::open_memory(void** memory, const IpcHandle& handle) {
  driver::Address opened = 0;
  const Result result = the_driver().ipc_open(&opened, handle, driver::kIpcLazyPeerAccess);
  *memory = reinterpret_cast<void*>(opened);
  return result;
}

}  // namespace dl::cuda
