#include "host_memory.h"

#include <sys/mman.h>

#include <iterator>
#include <string>
#include <utility>

#include "error.h"

namespace dl::async_test {

void* HostMemory::allocate(uint64_t bytes) {
  if (bytes == 0)
    throw Error(DL_INVALID_ARGUMENT, "0 bytes cannot be allocated; ask for at least 1");
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) {
    throw Error(DL_OUT_OF_MEMORY, std::to_string(bytes) + " bytes of pinned memory asked for, " +
                                      std::to_string(limit_ - used_) + " are left");
  }
  auto mapping = std::make_shared<const Mapping>(bytes, PROT_READ | PROT_WRITE);
  std::byte* memory = mapping->begin();
  used_ += bytes;
  blocks_[reinterpret_cast<uintptr_t>(memory)] = Block{bytes, std::move(mapping)};
  return memory;
}

void HostMemory::release(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks_.end()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the address is not the start of pinned memory; pass what host_allocate "
                "returned, once");
  }
  if (found->second.mapping.use_count() > 1) {
    throw Error(DL_INVALID_ARGUMENT,
                "enqueued copies still use the memory; synchronise their streams first");
  }
  used_ -= found->second.bytes;
  blocks_.erase(found);
}

HostMemory::Use HostMemory::use(const void* address, uint64_t bytes) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.upper_bound(wanted);
  if (next == blocks_.begin()) return nullptr;
  const auto block = std::prev(next);
  const uint64_t inside = wanted - block->first;
  if (inside >= block->second.bytes || bytes > block->second.bytes - inside) return nullptr;
  return block->second.mapping;
}

}  // namespace dl::async_test
