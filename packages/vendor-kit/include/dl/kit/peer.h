// The peer extension for a driver like CUDA's, over Runtime. In addition to the members that
// Runtime needs, `Api` has
//
//   static constexpr Result kPeerUnsupported         one device cannot access the other's memory
//   can_access(int device, int peer, bool*)
//   enable_access(int peer), disable_access(int peer) for the current device; idempotent
//   copy_to_peer(void* to, int to_device, const void* from, int from_device, size_t, Stream)
//   memory_range(const void*, void** base, size_t* bytes)   of the allocation
//   using IpcHandle                                  plain bytes, at most 64
//   export_memory(IpcHandle*, void*), open_memory(void**, const IpcHandle&), close_memory(void*)
#ifndef DL_KIT_PEER_H_
#define DL_KIT_PEER_H_

#include <unistd.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/table.h"
#include "dl/peer.h"

DL_KIT_BEGIN

namespace detail {

// The contents of a dl_peer_handle_t. The size is included because drivers do not report the size
// of opened memory; the process, because they do not clearly report that it may not open its own
// memory.
template <class IpcHandle>
struct SharedMemory {
  static constexpr uint64_t kMark = 0x316d656d2d6c64;  // "dl-mem1"
  uint64_t mark;
  uint64_t bytes;
  int64_t process;
  IpcHandle handle;
};

// Slots of the extension.
template <class V>
struct Peers {
  using Api = std::decay_t<decltype(std::declval<V>().api())>;
  using Shared = SharedMemory<typename Api::IpcHandle>;
  static_assert(sizeof(Shared) <= sizeof(dl_peer_handle_t), "the driver's handle is too long");

  static dl_status_t* can_access(dl_vendor_t* vendor, int32_t device, int32_t peer,
                                 int32_t* accessible) {
    return device_slot<V>(vendor, device, [&](V& v) {
      check_device(v, peer);
      bool can = device == peer;
      if (!can) v.check(v.api().can_access(device, peer, &can), "can_access");
      *accessible = can ? 1 : 0;
    });
  }
  static dl_status_t* enable_access(dl_vendor_t* vendor, int32_t device, int32_t peer) {
    return device_slot<V>(vendor, device, [&](V& v) {
      check_device(v, peer);
      if (device == peer) return;
      const auto result = v.api().enable_access(peer);
      if (result == Api::kPeerUnsupported)
        throw Error(DL_NOT_SUPPORTED, "kernels of device " + std::to_string(device) +
                                          " cannot reach memory of device " + std::to_string(peer) +
                                          "; copy the data instead");
      v.check(result, "enable_access");
    });
  }
  static dl_status_t* disable_access(dl_vendor_t* vendor, int32_t device, int32_t peer) {
    return device_slot<V>(vendor, device, [&](V& v) {
      check_device(v, peer);
      if (device != peer) v.check(v.api().disable_access(peer), "disable_access");
    });
  }
  static dl_status_t* copy(dl_vendor_t* vendor, int32_t source_device, const void* source,
                           int32_t destination_device, void* destination, uint64_t bytes,
                           void* stream) {
    return device_slot<V>(vendor, source_device, [&](V& v) {
      check_device(v, destination_device);
      if (bytes == 0) return;
      v.check(v.api().copy_to_peer(destination, destination_device, source, source_device, bytes,
                                   static_cast<typename V::Stream>(stream)),
              "copy_to_peer");
    });
  }

  static dl_status_t* export_memory(dl_vendor_t* vendor, int32_t device, void* memory,
                                    dl_peer_handle_t* handle) {
    return device_slot<V>(vendor, device, [&](V& v) {
      void* base = nullptr;
      size_t bytes = 0;
      v.check(v.api().memory_range(memory, &base, &bytes), "memory_range");
      if (base != memory)
        throw Error(DL_INVALID_ARGUMENT,
                    "the memory begins inside an allocation; export the address that "
                    "memory_allocate returned");
      Shared shared{};
      shared.mark = Shared::kMark;
      shared.bytes = bytes;
      shared.process = getpid();
      v.check(v.api().export_memory(&shared.handle, memory), "export_memory");
      std::memset(handle, 0, sizeof *handle);
      std::memcpy(handle->bytes, &shared, sizeof shared);
    });
  }
  static dl_status_t* open_memory(dl_vendor_t* vendor, int32_t device,
                                  const dl_peer_handle_t* handle, void** memory, uint64_t* bytes) {
    return device_slot<V>(vendor, device, [&](V& v) {
      Shared shared;
      std::memcpy(static_cast<void*>(&shared), handle->bytes, sizeof shared);
      if (shared.mark != Shared::kMark)
        throw Error(
            DL_INVALID_ARGUMENT,
            "the handle was not exported by this vendor; pass the handle that export_memory wrote");
      if (shared.process == getpid())
        throw Error(DL_INVALID_ARGUMENT, "the memory belongs to this process; use its address");
      void* opened = nullptr;
      v.check(v.api().open_memory(&opened, shared.handle), "open_memory");
      *memory = opened;
      *bytes = shared.bytes;
    });
  }
  static dl_status_t* close_memory(dl_vendor_t* vendor, int32_t device, void* memory) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { v.check(v.api().close_memory(memory), "close_memory"); });
  }
};

}  // namespace detail

// Events are not shared between processes: drivers share only events created for that purpose, at a
// cost, and event_create cannot know whether its caller needs that.
template <class V>
dl_extension_t* peer_extension(dl_extension_t* next) {
  using Slots = detail::Peers<V>;
  static dl_peer_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_PEER;
  table.next = next;
  table.can_access = Slots::can_access;
  table.enable_access = Slots::enable_access;
  table.disable_access = Slots::disable_access;
  table.copy = Slots::copy;
  table.export_memory = Slots::export_memory;
  table.open_memory = Slots::open_memory;
  table.close_memory = Slots::close_memory;
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_PEER_H_
