#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "slots.h"

namespace dl::async_test {
namespace {

// Real drivers stage small pageable copies and return before the device has them, and wait for
// large ones. Doing both keeps a host from relying on either.
constexpr uint64_t kStagedBytes = 64 * 1024;

dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t index, uint64_t bytes, void** memory) {
  return device_slot(vendor, index,
                     [&](Instance&, Device& device) { *memory = device.memory().allocate(bytes); });
}

dl_status_t* memory_free(dl_vendor_t* vendor, int32_t index, void* memory) {
  return device_slot(vendor, index,
                     [&](Instance&, Device& device) { device.memory().release(memory); });
}

dl_status_t* memory_info(dl_vendor_t* vendor, int32_t index, uint64_t* free_bytes,
                         uint64_t* total_bytes) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    *free_bytes = device.memory().free_bytes();
    *total_bytes = device.memory().total_bytes();
  });
}

dl_status_t* host_allocate(dl_vendor_t* vendor, uint64_t bytes, void** memory) {
  return slot(vendor,
              [&](Instance& instance) { *memory = instance.host_memory().allocate(bytes); });
}

dl_status_t* host_free(dl_vendor_t* vendor, void* memory) {
  return slot(vendor, [&](Instance& instance) { instance.host_memory().release(memory); });
}

void wait(Device& device, Stream& stream) {
  stream.synchronize();
  device.group().report();
}

void copy_to_device(Instance& instance, Device& device, Stream& stream, std::byte* to,
                    const void* from, uint64_t bytes) {
  if (auto use = instance.host_memory().use(from, bytes)) {
    stream.enqueue("memory_copy",
                   [to, from, bytes, use = std::move(use)] { std::memcpy(to, from, bytes); });
    return;
  }
  if (bytes <= kStagedBytes) {
    const auto* first = static_cast<const std::byte*>(from);
    stream.enqueue("memory_copy", [to, staged = std::vector<std::byte>(first, first + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    });
    return;
  }
  stream.enqueue("memory_copy", [to, from, bytes] { std::memcpy(to, from, bytes); });
  wait(device, stream);
}

void copy_to_host(Instance& instance, Device& device, Stream& stream, void* to,
                  const std::byte* from, uint64_t bytes) {
  auto use = instance.host_memory().use(to, bytes);
  const bool pageable = use == nullptr;
  stream.enqueue("memory_copy",
                 [to, from, bytes, use = std::move(use)] { std::memcpy(to, from, bytes); });
  if (pageable) wait(device, stream);
}

dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t index, void* destination, const void* source,
                         uint64_t bytes, int32_t kind, void* stream_handle) {
  return device_slot(vendor, index, [&](Instance& instance, Device& device) {
    const auto stream = device.stream(stream_handle);
    if (bytes == 0) return;
    DeviceMemory& memory = device.memory();
    switch (kind) {
      case DL_COPY_HOST_TO_DEVICE:
        return copy_to_device(instance, device, *stream, memory.translate(destination, bytes),
                              source, bytes);
      case DL_COPY_DEVICE_TO_HOST:
        return copy_to_host(instance, device, *stream, destination, memory.translate(source, bytes),
                            bytes);
      case DL_COPY_DEVICE_TO_DEVICE:
        return stream->enqueue("memory_copy", [to = memory.translate(destination, bytes),
                                               from = memory.translate(source, bytes),
                                               bytes] { std::memmove(to, from, bytes); });
      default:
        throw Error(DL_INVALID_ARGUMENT,
                    "copy kind " + std::to_string(kind) + " is none of dl_copy_kind_t");
    }
  });
}

dl_status_t* memory_set(dl_vendor_t* vendor, int32_t index, void* memory, int32_t value,
                        uint64_t bytes, void* stream_handle) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    const auto stream = device.stream(stream_handle);
    if (bytes == 0) return;
    std::byte* to = device.memory().translate(memory, bytes);
    stream->enqueue("memory_set", [to, value, bytes] { std::memset(to, value, bytes); });
  });
}

}  // namespace

void set_memory_slots(dl_vendor_table_t& table) {
  table.memory_allocate = memory_allocate;
  table.memory_free = memory_free;
  table.memory_info = memory_info;
  table.host_allocate = host_allocate;
  table.host_free = host_free;
  table.memory_copy = memory_copy;
  table.memory_set = memory_set;
}

}  // namespace dl::async_test
