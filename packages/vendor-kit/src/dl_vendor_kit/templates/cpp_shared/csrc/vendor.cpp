#include "vendor.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace __chip__ {

namespace kit = dl::kit;

dl_device_properties_t Vendor::device_properties(int32_t) {
  dl_device_properties_t properties{};
  std::snprintf(properties.name, sizeof properties.name, "__chip__ (stand-in)");
  properties.total_memory = uint64_t{1} << 30;
  properties.dtype_mask = uint64_t{1} << diopi_dtype_float32;
  return properties;
}

// Replace these three by your driver's allocation of shared memory.

void* Vendor::memory_allocate(int32_t, uint64_t bytes) {
  constexpr uint64_t kAlignment = 64;
  void* memory = nullptr;
  if (bytes <= PTRDIFF_MAX)
    memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw kit::Error(DL_OUT_OF_MEMORY, "the memory is exhausted");
  return memory;
}

void Vendor::memory_free(int32_t, void* memory) { std::free(memory); }

void Vendor::memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t, void*) {
  std::memmove(to, from, bytes);
}

}  // namespace __chip__

// The library's only exported symbol.
DL_KIT_VENDOR(__chip__::Vendor)
