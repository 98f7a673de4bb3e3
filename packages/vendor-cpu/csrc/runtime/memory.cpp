#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/instance.h"
#include "runtime/slots.h"
#include "runtime/status.h"

namespace dl::cpu {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHugePage = uint64_t(2) << 20;

dl_status_t* allocate(uint64_t bytes, void** memory) {
  // Huge pages save most of the page faults that touching fresh memory costs.
  const bool large = bytes >= 2 * kHugePage;
  void* address = nullptr;
  if (posix_memalign(&address, large ? kHugePage : kAlignment, bytes) != 0) {
    char text[96];
    std::snprintf(text, sizeof(text), "no %llu bytes of host memory",
                  static_cast<unsigned long long>(bytes));
    return make_status(DL_OUT_OF_MEMORY, text, "posix_memalign");
  }
  // Advice only: without huge pages the memory is as good.
  if (large) madvise(address, bytes, MADV_HUGEPAGE);
  *memory = address;
  return nullptr;
}

}  // namespace

dl_status_t* memory_allocate(dl_vendor_t* vendor, int32_t device, uint64_t bytes,
                             void** memory) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  return allocate(bytes, memory);
}

dl_status_t* memory_free(dl_vendor_t* vendor, int32_t device, void* memory) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  std::free(memory);
  return nullptr;
}

dl_status_t* memory_info(dl_vendor_t* vendor, int32_t device, uint64_t* free_bytes,
                         uint64_t* total_bytes) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  const long page = sysconf(_SC_PAGESIZE), available = sysconf(_SC_AVPHYS_PAGES),
             all = sysconf(_SC_PHYS_PAGES);
  if (page <= 0 || available < 0 || all <= 0) {
    return make_status(DL_NOT_SUPPORTED, "the system does not tell its memory", "sysconf");
  }
  *free_bytes = static_cast<uint64_t>(available) * static_cast<uint64_t>(page);
  *total_bytes = static_cast<uint64_t>(all) * static_cast<uint64_t>(page);
  return nullptr;
}

dl_status_t* host_allocate(dl_vendor_t*, uint64_t bytes, void** memory) noexcept {
  return allocate(bytes, memory);
}

dl_status_t* host_free(dl_vendor_t*, void* memory) noexcept {
  std::free(memory);
  return nullptr;
}

dl_status_t* memory_copy(dl_vendor_t* vendor, int32_t device, void* destination, const void* source,
                         uint64_t bytes, int32_t, void*) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  // C leaves null pointers undefined even for no bytes.
  if (bytes != 0) std::memmove(destination, source, bytes);
  return nullptr;
}

dl_status_t* memory_set(dl_vendor_t* vendor, int32_t device, void* memory, int32_t value,
                        uint64_t bytes, void*) noexcept {
  if (dl_status_t* status = check_device(vendor, device)) return status;
  if (bytes != 0) std::memset(memory, value, bytes);
  return nullptr;
}

}  // namespace dl::cpu
