#include "memory/transfer.h"

#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

void copy(int index, void* destination, const void* source, size_t bytes, dl_copy_kind_t kind) {
  if (bytes == 0) return;
  check_not_forked();
  const Device& owner = device(index);
  owner.vendor->call(&dl_vendor_table_t::memory_copy, "memory_copy", owner.local, destination,
                     source, static_cast<uint64_t>(bytes), static_cast<int32_t>(kind),
                     current_native_stream(index));
}

}  // namespace

void copy_within_device(int device, void* destination, const void* source, size_t bytes) {
  copy(device, destination, source, bytes, DL_COPY_DEVICE_TO_DEVICE);
}

void copy_to_device(int device, void* destination, const void* host, size_t bytes) {
  copy(device, destination, host, bytes, DL_COPY_HOST_TO_DEVICE);
}

void copy_to_host(int device, void* host, const void* source, size_t bytes) {
  copy(device, host, source, bytes, DL_COPY_DEVICE_TO_HOST);
}

void wait_for(int device) { synchronize_stream(current_stream(device)); }

}  // namespace dl::core
