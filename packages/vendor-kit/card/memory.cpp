// Memory of a card and of the host, and copies between them.
#include <cstdlib>
#include <cstring>

#include "driver.h"

using namespace card;

namespace {

constexpr size_t kAlignment = 256;

}  // namespace

cardError_t cardMalloc(void** memory, size_t bytes) {
  Device& device = driver().devices[current];
  {
    const std::lock_guard<std::mutex> lock(device.mutex);
    if (bytes > driver().memory - device.used) return last_error = cardErrorMemoryAllocation;
    device.used += bytes;
  }
  void* made = nullptr;
  if (posix_memalign(&made, kAlignment, bytes) != 0) return cardErrorMemoryAllocation;
  std::memset(made, 0xFF, bytes);  // NaN: nothing is there until it is written
  const auto address = reinterpret_cast<uintptr_t>(made);
  const std::lock_guard<std::mutex> lock(device.mutex);
  device.live[address] = bytes;
  *memory = reinterpret_cast<void*>(tagged(current, address));
  return cardSuccess;
}
cardError_t cardFree(void* memory) {
  const uintptr_t address = untagged(current, memory, 0);
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  const auto found = device.live.find(address);
  if (found == device.live.end()) return cardErrorInvalidValue;
  std::memset(reinterpret_cast<void*>(address), 0xDB, found->second);
  device.used -= found->second;
  device.live.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return cardSuccess;
}
cardError_t cardMallocHost(void** memory, size_t bytes) {
  return posix_memalign(memory, 64, bytes) == 0 ? cardSuccess : cardErrorMemoryAllocation;
}
cardError_t cardFreeHost(void* memory) {
  std::free(memory);
  return cardSuccess;
}
cardError_t cardMemGetInfo(size_t* free_bytes, size_t* total) {
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  *total = driver().memory;
  *free_bytes = *total - device.used;
  return cardSuccess;
}

cardError_t cardMemcpyAsync(void* to, const void* from, size_t bytes, cardMemcpyKind kind,
                            cardStream_t handle) {
  cardStream* stream = find(handle);
  if (stream == nullptr) return cardErrorInvalidHandle;
  auto target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
  if (kind != cardMemcpyDeviceToHost) target = untagged(current, to, bytes);
  if (kind != cardMemcpyHostToDevice) source = untagged(current, from, bytes);
  if (target == 0 || source == 0) return cardErrorInvalidValue;
  stream->push([=] {
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
  });
  return cardSuccess;
}
cardError_t cardMemsetAsync(void* memory, int value, size_t bytes, cardStream_t handle) {
  cardStream* stream = find(handle);
  const uintptr_t target = untagged(current, memory, bytes);
  if (stream == nullptr) return cardErrorInvalidHandle;
  if (target == 0) return cardErrorInvalidValue;
  stream->push([=] { std::memset(reinterpret_cast<void*>(target), value, bytes); });
  return cardSuccess;
}
