#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/vendor.h"

namespace dl::cpu {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHugePage = uint64_t(2) << 20;

void* allocate(uint64_t bytes) {
  // Huge pages avoid most page faults on first access.
  const bool large = bytes >= 2 * kHugePage;
  void* address = nullptr;
  if (posix_memalign(&address, large ? kHugePage : kAlignment, bytes) != 0)
    throw kit::Error(DL_OUT_OF_MEMORY,
                     "out of host memory: " + std::to_string(bytes) + " bytes were requested",
                     "posix_memalign");
  // A hint only: without huge pages the memory is usable too.
  if (large) madvise(address, bytes, MADV_HUGEPAGE);
  return address;
}

}  // namespace

void* Vendor::memory_allocate(int32_t, uint64_t bytes) { return allocate(bytes); }
void Vendor::memory_free(int32_t, void* memory) { std::free(memory); }
void* Vendor::host_allocate(uint64_t bytes) { return allocate(bytes); }
void Vendor::host_free(void* memory) { std::free(memory); }

kit::MemoryInfo Vendor::memory_info(int32_t) {
  const long page = sysconf(_SC_PAGESIZE), available = sysconf(_SC_AVPHYS_PAGES),
             all = sysconf(_SC_PHYS_PAGES);
  if (page <= 0 || available < 0 || all <= 0)
    throw kit::Error(DL_NOT_SUPPORTED, "the system does not report its memory size", "sysconf");
  return {static_cast<uint64_t>(available) * static_cast<uint64_t>(page),
          static_cast<uint64_t>(all) * static_cast<uint64_t>(page)};
}

// memcpy with null pointers is undefined even for 0 bytes.
void Vendor::memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t, void*) {
  if (bytes != 0) std::memmove(to, from, bytes);
}
void Vendor::memory_set(int32_t, void* memory, int32_t value, uint64_t bytes, void*) {
  if (bytes != 0) std::memset(memory, value, bytes);
}

}  // namespace dl::cpu
