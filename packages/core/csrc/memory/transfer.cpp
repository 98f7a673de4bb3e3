#include "memory/transfer.h"

#include "dl/peer.h"
#include "memory/graph_pools.h"
#include "memory/pinned.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/recorder.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

constexpr char kWaits[] = "what the host has to wait for";

// Only copies from and to pinned memory can be captured in a graph.
void check_capturable(int device, const void* host) {
  if (C10_UNLIKELY(is_capturing(device)) && !is_pinned(host)) check_not_capturing(device, kWaits);
}

void copy(int index, void* destination, const void* source, size_t bytes, dl_copy_kind_t kind) {
  if (bytes == 0) return;
  check_not_forked();
  if (is_recorded()) record_copy(kind, destination, source, bytes);
  const Device& owner = device(index);
  owner.vendor->call(&dl_vendor_table_t::memory_copy, "memory_copy", owner.local, destination,
                     source, static_cast<uint64_t>(bytes), static_cast<int32_t>(kind),
                     current_native_stream(index));
}

// The copy function of the common vendor, or NULL.
decltype(dl_peer_extension_t::copy) peer_copy(const Device& from, const Device& to) {
  if (from.vendor != to.vendor) return nullptr;
  const auto* peer = from.vendor->extension<dl_peer_extension_t>(DL_EXT_PEER);
  return peer == nullptr ? nullptr : peer->copy;
}

// Makes future work on the current stream of `later` wait for the work on the current stream of
// `earlier`; both have the same vendor.
void put_in_order(int earlier, int later) {
  const Device &first = device(earlier), &second = device(later);
  if (first.synchronous) return;
  const Vendor& vendor = *first.vendor;
  const dl_vendor_table_t& slots = vendor.slots();
  if (slots.event_create == nullptr || slots.event_destroy == nullptr ||
      slots.event_record == nullptr || slots.stream_wait_event == nullptr) {
    wait_for(earlier);
    return;
  }
  struct Event {
    ~Event() {
      if (handle != nullptr)
        vendor.call_noexcept(&dl_vendor_table_t::event_destroy, "event_destroy", device, handle);
    }
    const Vendor& vendor;
    int32_t device;
    void* handle;
  } event{vendor, first.local, nullptr};
  vendor.call(&dl_vendor_table_t::event_create, "event_create", first.local, uint64_t{0},
              &event.handle);
  vendor.call(&dl_vendor_table_t::event_record, "event_record", first.local, event.handle,
              current_native_stream(earlier));
  vendor.call(&dl_vendor_table_t::stream_wait_event, "stream_wait_event", second.local,
              current_native_stream(later), event.handle);
}

}  // namespace

void copy_within_device(int device, void* destination, const void* source, size_t bytes) {
  copy(device, destination, source, bytes, DL_COPY_DEVICE_TO_DEVICE);
}

bool has_peer_copies(int source_device, int index) {
  return peer_copy(device(source_device), device(index)) != nullptr;
}

bool copy_to_peer(int source_device, const void* source, int index, void* destination,
                  size_t bytes) {
  check_not_forked();
  const Device &from = device(source_device), &to = device(index);
  const auto slot = peer_copy(from, to);
  if (slot == nullptr) return false;
  if (is_recorded()) record_event("copy between devices");
  if (bytes == 0) return true;
  // The destination may still be in use on its stream, and the source's stream writes to it.
  put_in_order(index, source_device);
  from.vendor->call_extension(slot, "peer.copy", from.local, source, to.local, destination,
                              static_cast<uint64_t>(bytes), current_native_stream(source_device));
  put_in_order(source_device, index);
  return true;
}

void copy_to_device(int device, void* destination, const void* host, size_t bytes) {
  check_capturable(device, host);
  copy(device, destination, host, bytes, DL_COPY_HOST_TO_DEVICE);
}

void copy_to_host(int device, void* host, const void* source, size_t bytes) {
  check_capturable(device, host);
  copy(device, host, source, bytes, DL_COPY_DEVICE_TO_HOST);
}

void wait_for(int device) {
  check_not_capturing(device, kWaits);
  synchronize_stream(current_stream(device));
}

}  // namespace dl::core
