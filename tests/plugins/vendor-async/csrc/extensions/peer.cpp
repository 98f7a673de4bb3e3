#include "dl/peer.h"

#include <cstring>

#include "extensions/extensions.h"
#include "lie.h"
#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* can_access(dl_vendor_t* vendor, int32_t index, int32_t peer, int32_t* accessible) {
  return device_slot(vendor, index, [&](Instance& all, Device&) {
    all.any_device(peer);
    *accessible = 1;
  });
}

dl_status_t* enable_access(dl_vendor_t* vendor, int32_t index, int32_t peer) {
  return device_slot(vendor, index, [&](Instance& all, Device& device) {
    all.any_device(peer);
    device.set_peer(peer, true);
  });
}

dl_status_t* disable_access(dl_vendor_t* vendor, int32_t index, int32_t peer) {
  return device_slot(vendor, index, [&](Instance& all, Device& device) {
    all.any_device(peer);
    device.set_peer(peer, false);
  });
}

dl_status_t* copy(dl_vendor_t* vendor, int32_t index, const void* source, int32_t peer,
                  void* destination, uint64_t bytes, void* stream_handle) {
  return device_slot(vendor, index, [&](Instance& all, Device& device) {
    Device& there = all.any_device(peer);
    const auto stream = device.stream(stream_handle);
    if (bytes == 0) return;
    const std::byte* from = device.memory().translate(source, bytes);
    std::byte* to = there.memory().translate(destination, bytes);
    stream->enqueue(
        "peer_copy",
        [to, from, bytes] {
          std::memcpy(to, from, lie_is(Lie::kPeerCopyIsOneByteShort) ? bytes - 1 : bytes);
        },
        Work{DL_ACTIVITY_COPY, bytes});
  });
}

dl_status_t* export_memory(dl_vendor_t* vendor, int32_t index, void* memory,
                           dl_peer_handle_t* handle) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    given(handle, "the handle") = device.memory().export_allocation(memory);
  });
}

dl_status_t* open_memory(dl_vendor_t* vendor, int32_t index, const dl_peer_handle_t* handle,
                         void** memory, uint64_t* bytes) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    *memory = device.memory().open(given(handle, "the handle"), bytes);
  });
}

dl_status_t* close_memory(dl_vendor_t* vendor, int32_t index, void* memory) {
  return device_slot(vendor, index,
                     [&](Instance&, Device& device) { device.memory().close(memory); });
}

}  // namespace

dl_extension_t* peer_extension(dl_extension_t* next) {
  // Events cannot be shared between processes.
  static dl_peer_extension_t peer = {sizeof(dl_peer_extension_t),
                                     DL_EXT_PEER,
                                     next,
                                     can_access,
                                     enable_access,
                                     disable_access,
                                     copy,
                                     export_memory,
                                     open_memory,
                                     close_memory,
                                     nullptr,
                                     nullptr};
  return reinterpret_cast<dl_extension_t*>(&peer);
}

}  // namespace dl::async_test
