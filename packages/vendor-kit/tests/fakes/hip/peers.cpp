// Devices that access each other's memory, and memory of other processes.
//
//   FAKE_HIP_PEERS=off   devices cannot access each other
#include <cstring>

#include "fake_hip.h"

using namespace fake;

namespace {

bool is_other(int device) { return device >= 0 && device < count() && device != current; }
bool reaches() { return fake_driver::setting("FAKE_HIP_PEERS", "on") != "off"; }

#ifdef ROCM5
constexpr unsigned kIpcFlags = kIpcLazyPeerAccess5;
#else
constexpr unsigned kIpcFlags = kIpcLazyPeerAccess6;
#endif

}  // namespace

FAKE Code hipDeviceCanAccessPeer(int* can, int device, int peer) {
  ENTER(hipDeviceCanAccessPeer);
  if (device < 0 || device >= count() || peer < 0 || peer >= count()) return kInvalidDevice;
  *can = device != peer && reaches() ? 1 : 0;
  return kSuccess;
}
FAKE Code hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  ENTER(hipDeviceEnablePeerAccess);
  if (flags != 0) return note(kInvalidValue);
  if (!is_other(peer)) return note(kInvalidDevice);
  if (!reaches()) return note(kPeerUnsupported);
  const unsigned bit = 1u << peer;
  return (here().peers.fetch_or(bit) & bit) != 0 ? note(kPeerEnabled) : int(kSuccess);
}
FAKE Code hipDeviceDisablePeerAccess(int peer) {
  ENTER(hipDeviceDisablePeerAccess);
  if (!is_other(peer)) return note(kInvalidDevice);
  const unsigned bit = 1u << peer;
  return (here().peers.fetch_and(~bit) & bit) == 0 ? note(kPeerNotEnabled) : int(kSuccess);
}

FAKE Code hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                             size_t bytes, Stream handle) {
  ENTER(hipMemcpyPeerAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  for (const int device : {to_device, from_device}) {
    if (device < 0 || device >= count()) return kInvalidDevice;
  }
  Memory &target = device_of(to_device).memory, &source = device_of(from_device).memory;
  if (!target.holds(to, bytes) || !source.holds(from, bytes)) return kInvalidValue;
  push(*stream, [=, &target, &source] {
    target.open();
    source.open();
    std::memmove(to, from, bytes);
    source.close();
    target.close();
  });
  return kSuccess;
}
FAKE Code hipMemGetAddressRange(void** base, size_t* bytes, void* memory) {
  ENTER(hipMemGetAddressRange);
  return here().memory.range(memory, base, bytes) ? kSuccess : kInvalidValue;
}

FAKE Code hipIpcGetMemHandle(IpcHandle* handle, void* memory) {
  ENTER(hipIpcGetMemHandle);
  return here().memory.share(memory, handle) ? kSuccess : kInvalidValue;
}
FAKE Code hipIpcOpenMemHandle(void** memory, IpcHandle handle, unsigned flags) {
  ENTER(hipIpcOpenMemHandle);
  if (flags != kIpcFlags) return note(kInvalidValue);
  *memory = here().memory.attach(handle);
  return *memory == nullptr ? note(kInvalidHandle) : int(kSuccess);
}
FAKE Code hipIpcCloseMemHandle(void* memory) {
  ENTER_AND_WAIT(hipIpcCloseMemHandle);
  wait_for_all();
  return here().memory.detach(memory) ? kSuccess : kInvalidValue;
}
