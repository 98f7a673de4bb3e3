#include "memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "error.h"

namespace dl::async_test {
namespace {

constexpr uint64_t round_up(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::string hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

}  // namespace

DeviceMemory::DeviceMemory(int32_t device, uint64_t bytes)
    : device_(device),
      total_(bytes / kAlignment * kAlignment),
      addresses_(total_, PROT_NONE),
      file_(total_),
      bytes_(total_, file_.file(), 0) {
  gaps_[0] = total_;
}

void* DeviceMemory::allocate(uint64_t bytes) {
  if (bytes == 0)
    throw Error(DL_INVALID_ARGUMENT, "0 bytes cannot be allocated; ask for at least 1");
  uint64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t need = bytes > total_ ? bytes : round_up(bytes, kAlignment);
    auto gap = gaps_.begin();
    while (gap != gaps_.end() && gap->second < need) ++gap;
    if (gap == gaps_.end()) {
      throw Error(DL_OUT_OF_MEMORY,
                  std::to_string(bytes) + " bytes do not fit on device " + std::to_string(device_) +
                      ": " + std::to_string(total_ - used_) + " of " + std::to_string(total_) +
                      " are free, perhaps in pieces; raise DL_ASYNC_TEST_MEMORY");
    }
    offset = gap->first;
    const uint64_t rest = gap->second - need;
    gaps_.erase(gap);
    if (rest > 0) gaps_[offset + need] = rest;
    live_[offset] = bytes;
    used_ += need;
    live_bytes_ += bytes;
  }
  std::memset(bytes_.begin() + offset, kFreshByte, bytes);
  return addresses_.begin() + offset;
}

void DeviceMemory::release(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(memory) - addresses_.begin());
  const auto found = live_.find(offset);
  if (found == live_.end()) {
    throw Error(DL_INVALID_ARGUMENT, hex(memory) + " is not the start of an allocation of device " +
                                         std::to_string(device_) +
                                         "; pass what memory_allocate returned, once");
  }
  file_.withdraw(offset);
  const uint64_t need = round_up(found->second, kAlignment);
  std::memset(bytes_.begin() + offset, kFreedByte, need);
  used_ -= need;
  live_bytes_ -= found->second;
  live_.erase(found);
  insert_gap(offset, need);
}

void DeviceMemory::insert_gap(uint64_t offset, uint64_t bytes) {
  const auto after = gaps_.find(offset + bytes);
  if (after != gaps_.end()) {
    bytes += after->second;
    gaps_.erase(after);
  }
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  gaps_[offset] = bytes;
}

std::byte* DeviceMemory::translate(const void* address, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (std::byte* found = find(reinterpret_cast<uintptr_t>(address), bytes)) return found;
  throw Error(DL_INVALID_ARGUMENT,
              std::to_string(bytes) + " bytes at " + hex(address) +
                  " are not inside one live allocation of device " + std::to_string(device_) +
                  "; pass memory of memory_allocate on this device that was not freed");
}

std::byte* DeviceMemory::find(uintptr_t address, uint64_t bytes) const {
  const auto start = reinterpret_cast<uintptr_t>(addresses_.begin());
  if (address >= start && address - start < total_) {
    const uint64_t offset = address - start;
    const auto next = live_.upper_bound(offset);
    if (next == live_.begin()) return nullptr;
    const auto block = std::prev(next);
    const uint64_t inside = offset - block->first;
    const bool fits = inside <= block->second && bytes <= block->second - inside;
    return fits ? bytes_.begin() + offset : nullptr;
  }
  const auto next = opened_.upper_bound(address);
  if (next == opened_.begin()) return nullptr;
  const auto& [first, opened] = *std::prev(next);
  const uint64_t inside = address - first, size = opened->part.bytes();
  return inside <= size && bytes <= size - inside ? opened->part.begin() + inside : nullptr;
}

DeviceMemory::Opened::Opened(const dl_peer_handle_t& handle)
    : part(handle), addresses(part.bytes(), PROT_NONE) {}

dl_peer_handle_t DeviceMemory::export_allocation(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto offset =
      reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(addresses_.begin());
  const auto found = live_.find(offset);
  if (found == live_.end()) {
    throw Error(DL_INVALID_ARGUMENT, hex(memory) + " is not the start of an allocation of device " +
                                         std::to_string(device_) +
                                         "; export what memory_allocate returned");
  }
  return file_.export_part(offset, found->second);
}

void* DeviceMemory::open(const dl_peer_handle_t& handle, uint64_t* bytes) {
  auto opened = std::make_unique<Opened>(handle);
  *bytes = opened->part.bytes();
  void* memory = opened->addresses.begin();
  const std::lock_guard lock(mutex_);
  opened_[reinterpret_cast<uintptr_t>(memory)] = std::move(opened);
  return memory;
}

void DeviceMemory::close(void* memory) {
  const std::lock_guard lock(mutex_);
  if (opened_.erase(reinterpret_cast<uintptr_t>(memory)) == 0) {
    throw Error(DL_INVALID_ARGUMENT, hex(memory) + " is not memory that was opened on device " +
                                         std::to_string(device_) +
                                         "; pass what open_memory returned, once");
  }
}

uint64_t DeviceMemory::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return total_ - used_;
}

uint64_t DeviceMemory::live_allocations() const {
  const std::lock_guard lock(mutex_);
  return live_.size();
}

uint64_t DeviceMemory::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

}  // namespace dl::async_test
