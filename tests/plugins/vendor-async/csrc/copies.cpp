#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "error.h"
#include "instance.h"

namespace dl::async_test {
namespace {

// Real drivers stage small pageable copies and return before the device has them, and wait for
// large ones. Doing both keeps hosts from relying on either.
constexpr uint64_t kStagedBytes = 64 * 1024;

void wait(Device& device, Stream& stream) {
  stream.synchronize();
  device.group().report();
}

Work copied(uint64_t bytes) { return {DL_ACTIVITY_COPY, bytes}; }

void copy_to_device(Instance& instance, Device& device, Stream& stream, std::byte* to,
                    const void* from, uint64_t bytes) {
  if (auto use = instance.host_memory().use(from, bytes)) {
    stream.enqueue(
        "memory_copy", [to, from, bytes, use = std::move(use)] { std::memcpy(to, from, bytes); },
        copied(bytes));
    return;
  }
  if (bytes <= kStagedBytes) {
    const auto* first = static_cast<const std::byte*>(from);
    stream.enqueue(
        "memory_copy",
        [to, staged = std::vector<std::byte>(first, first + bytes)] {
          std::memcpy(to, staged.data(), staged.size());
        },
        copied(bytes));
    return;
  }
  stream.check_runs("a copy of more than 64 KiB from pageable memory");
  stream.enqueue("memory_copy", [to, from, bytes] { std::memcpy(to, from, bytes); }, copied(bytes));
  wait(device, stream);
}

void copy_to_host(Instance& instance, Device& device, Stream& stream, void* to,
                  const std::byte* from, uint64_t bytes) {
  auto use = instance.host_memory().use(to, bytes);
  const bool pageable = use == nullptr;
  if (pageable) stream.check_runs("a copy to pageable memory");
  stream.enqueue(
      "memory_copy", [to, from, bytes, use = std::move(use)] { std::memcpy(to, from, bytes); },
      copied(bytes));
  if (pageable) wait(device, stream);
}

}  // namespace

void Instance::memory_copy(int32_t index, void* to, const void* from, uint64_t bytes, int32_t kind,
                           void* stream_handle) {
  Device& owner = device(index);
  const auto stream = owner.stream(stream_handle);
  if (bytes == 0) return;
  DeviceMemory& memory = owner.memory();
  switch (kind) {
    case DL_COPY_HOST_TO_DEVICE:
      return copy_to_device(*this, owner, *stream, memory.translate(to, bytes), from, bytes);
    case DL_COPY_DEVICE_TO_HOST:
      return copy_to_host(*this, owner, *stream, to, memory.translate(from, bytes), bytes);
    case DL_COPY_DEVICE_TO_DEVICE:
      return stream->enqueue(
          "memory_copy",
          [target = memory.translate(to, bytes), source = memory.translate(from, bytes), bytes] {
            std::memmove(target, source, bytes);
          },
          copied(bytes));
    default:
      throw Error(DL_INVALID_ARGUMENT,
                  "copy kind " + std::to_string(kind) + " is not a dl_copy_kind_t");
  }
}

void Instance::memory_set(int32_t index, void* memory, int32_t value, uint64_t bytes,
                          void* stream_handle) {
  Device& owner = device(index);
  const auto stream = owner.stream(stream_handle);
  if (bytes == 0) return;
  std::byte* to = owner.memory().translate(memory, bytes);
  stream->enqueue(
      "memory_set", [to, value, bytes] { std::memset(to, value, bytes); },
      Work{DL_ACTIVITY_SET, bytes});
}

}  // namespace dl::async_test
