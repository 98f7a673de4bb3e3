#include "copies.h"

#include <cstring>

namespace sim {
namespace {

/** One end of a copy: host memory, or an address in a device's memory. */
struct End {
  int device = -1;
  uint64_t address = 0;
};

bool resolve(uint64_t address, size_t bytes, bool of_device, End& end) {
  end = {Driver::get().owner_of(address), address};
  if (end.device < 0) {
    // A device pointer may refer to pinned host memory.
    return address != 0 && !DeviceMemory::is_device_address(address) &&
           (!of_device || Driver::get().is_pinned(reinterpret_cast<void*>(address), bytes));
  }
  return of_device && Driver::get().device(end.device).memory.find(address, bytes) != nullptr;
}

void copy_now(const End& to, const End& from, size_t bytes) {
  Driver& driver = Driver::get();
  Region* target =
      to.device < 0 ? nullptr : driver.device(to.device).memory.find(to.address, bytes);
  Region* source =
      from.device < 0 ? nullptr : driver.device(from.device).memory.find(from.address, bytes);
  // Freed in the meantime: undefined behaviour on a GPU.
  if ((to.device >= 0 && target == nullptr) || (from.device >= 0 && source == nullptr)) return;
  uint8_t* into = target != nullptr ? target->bytes + (to.address - target->base)
                                    : reinterpret_cast<uint8_t*>(to.address);
  const uint8_t* out = source != nullptr ? source->bytes + (from.address - source->base)
                                         : reinterpret_cast<const uint8_t*>(from.address);
  std::memmove(into, out, bytes);
  if (target == nullptr) return;
  uint8_t* valid = target->valid + (to.address - target->base);
  if (source != nullptr && source->valid != nullptr) {
    std::memmove(valid, source->valid + (from.address - source->base), bytes);
  } else {
    std::memset(valid, 1, bytes);
  }
}

void locked_copy(const End& to, const End& from, size_t bytes) {
  Driver& driver = Driver::get();
  const int one = to.device >= 0 ? to.device : from.device, two = from.device;
  if (one < 0) return copy_now(to, from, bytes);
  if (two < 0 || one == two) {
    const std::lock_guard<std::mutex> lock(driver.device(one).running);
    return copy_now(to, from, bytes);
  }
  const std::scoped_lock lock(driver.device(one).running, driver.device(two).running);
  copy_now(to, from, bytes);
}

}  // namespace

Region* region_of(uint64_t address, size_t bytes) {
  Driver& driver = Driver::get();
  const int owner = driver.owner_of(address);
  return driver.device(owner < 0 ? 0 : owner).memory.find(address, bytes);
}

CUresult copy(uint64_t to, uint64_t from, size_t bytes, Direction direction, CUstream handle,
              bool wait) {
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  End target, source;
  const bool any = direction == Direction::kAny;
  const bool into_device = any ? Driver::get().owner_of(to) >= 0 : direction != Direction::kToHost;
  const bool from_device =
      any ? Driver::get().owner_of(from) >= 0 : direction != Direction::kToDevice;
  if (!resolve(to, bytes, into_device, target) || !resolve(from, bytes, from_device, source))
    return CUDA_ERROR_INVALID_VALUE;
  const auto pinned = [&](const End& end) {
    return end.device >= 0 || Driver::get().is_pinned(reinterpret_cast<void*>(end.address), bytes);
  };
  if (source.device < 0 && !pinned(source)) {
    // Pageable memory is read before the call returns, as by NVIDIA's driver.
    auto taken = std::make_shared<std::vector<uint8_t>>(bytes);
    std::memcpy(taken->data(), reinterpret_cast<const void*>(from), bytes);
    const CUresult result = enqueue(stream, [target, taken] {
      locked_copy(target, {-1, reinterpret_cast<uint64_t>(taken->data())}, taken->size());
    });
    return result == CUDA_SUCCESS && wait ? wait_for(stream) : result;
  }
  const CUresult result =
      enqueue(stream, [target, source, bytes] { locked_copy(target, source, bytes); });
  const bool must_wait = wait || (!pinned(target) && !stream->capture);
  return result == CUDA_SUCCESS && must_wait ? wait_for(stream) : result;
}

CUresult fill(uint64_t to, uint32_t value, unsigned width, size_t count, CUstream handle,
              bool wait) {
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == 0) return CUDA_SUCCESS;
  const size_t bytes = count * width;
  if (to % width != 0 || region_of(to, bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = enqueue(stream, [to, value, width, bytes] {
    Driver& driver = Driver::get();
    const int owner = driver.owner_of(to);
    const std::lock_guard<std::mutex> lock(driver.device(owner < 0 ? 0 : owner).running);
    Region* region = region_of(to, bytes);
    if (region == nullptr) return;
    uint8_t* into = region->bytes + (to - region->base);
    for (size_t at = 0; at < bytes; at += width) std::memcpy(into + at, &value, width);
    if (region->valid != nullptr) std::memset(region->valid + (to - region->base), 1, bytes);
  });
  return result == CUDA_SUCCESS && wait ? wait_for(stream) : result;
}

}  // namespace sim
