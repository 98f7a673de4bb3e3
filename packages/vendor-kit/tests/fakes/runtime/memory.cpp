// Device and host memory, and copies between them.
#include <cstdlib>
#include <cstring>

#include "driver.h"

using namespace sim;

namespace {

constexpr size_t kAlignment = 256;

}  // namespace

simError_t simMalloc(void** memory, size_t bytes) {
  Device& device = driver().devices[current];
  {
    const std::lock_guard<std::mutex> lock(device.mutex);
    if (bytes > driver().memory - device.used) return last_error = simErrorMemoryAllocation;
    device.used += bytes;
  }
  void* made = nullptr;
  if (posix_memalign(&made, kAlignment, bytes) != 0) return simErrorMemoryAllocation;
  std::memset(made, 0xFF, bytes);  // NaN until written
  const auto address = reinterpret_cast<uintptr_t>(made);
  const std::lock_guard<std::mutex> lock(device.mutex);
  device.live[address] = bytes;
  *memory = reinterpret_cast<void*>(tagged(current, address));
  return simSuccess;
}
simError_t simFree(void* memory) {
  const uintptr_t address = untagged(current, memory, 0);
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  const auto found = device.live.find(address);
  if (found == device.live.end()) return simErrorInvalidValue;
  std::memset(reinterpret_cast<void*>(address), 0xDB, found->second);
  device.used -= found->second;
  device.live.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return simSuccess;
}
simError_t simMallocHost(void** memory, size_t bytes) {
  return posix_memalign(memory, 64, bytes) == 0 ? simSuccess : simErrorMemoryAllocation;
}
simError_t simFreeHost(void* memory) {
  std::free(memory);
  return simSuccess;
}
simError_t simMemGetInfo(size_t* free_bytes, size_t* total) {
  Device& device = driver().devices[current];
  const std::lock_guard<std::mutex> lock(device.mutex);
  *total = driver().memory;
  *free_bytes = *total - device.used;
  return simSuccess;
}

simError_t simMemcpyAsync(void* to, const void* from, size_t bytes, simMemcpyKind kind,
                          simStream_t handle) {
  simStream* stream = find(handle);
  if (stream == nullptr) return simErrorInvalidHandle;
  auto target = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
  if (kind != simMemcpyDeviceToHost) target = untagged(current, to, bytes);
  if (kind != simMemcpyHostToDevice) source = untagged(current, from, bytes);
  if (target == 0 || source == 0) return simErrorInvalidValue;
  stream->push([=] {
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
  });
  return simSuccess;
}
simError_t simMemsetAsync(void* memory, int value, size_t bytes, simStream_t handle) {
  simStream* stream = find(handle);
  const uintptr_t target = untagged(current, memory, bytes);
  if (stream == nullptr) return simErrorInvalidHandle;
  if (target == 0) return simErrorInvalidValue;
  stream->push([=] { std::memset(reinterpret_cast<void*>(target), value, bytes); });
  return simSuccess;
}
