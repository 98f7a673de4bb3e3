// The vendor: devices and memory are here, all operators are those of dl-kernels, which the chip's
// compiler compiles (setup.py). Each method fills the slot of the same name in the contract's
// table; hosts do without slots that have no method, or emulate them.
#include "dl/kit/table.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dl_kernels/operators.h"

namespace __chip__ {

namespace kit = dl::kit;

struct Vendor : kit::Instance {
  static constexpr const char* kName = "__chip__";
  static constexpr const char* kVersion = VENDOR_VERSION;
  static constexpr uint64_t kCapabilities =
      DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;

  int32_t device_count() { return 1; }

  dl_device_properties_t device_properties(int32_t) {
    dl_device_properties_t properties{};
    std::snprintf(properties.name, sizeof properties.name, "__chip__ (stand-in)");
    properties.total_memory = uint64_t{1} << 30;
    for (const diopiDtype_t dtype :
         {diopi_dtype_int8, diopi_dtype_uint8, diopi_dtype_int16, diopi_dtype_int32,
          diopi_dtype_int64, diopi_dtype_bool, diopi_dtype_float16, diopi_dtype_bfloat16,
          diopi_dtype_float32, diopi_dtype_float64})
      properties.dtype_mask |= uint64_t{1} << dtype;
    return properties;
  }

  // Replace these three by your driver's allocation of shared memory.

  void* memory_allocate(int32_t, uint64_t bytes) {
    constexpr uint64_t kAlignment = 64;
    void* memory = nullptr;
    if (bytes <= PTRDIFF_MAX)
      memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (memory == nullptr) throw kit::Error(DL_OUT_OF_MEMORY, "the memory is exhausted");
    return memory;
  }
  void memory_free(int32_t, void* memory) { std::free(memory); }
  void memory_copy(int32_t, void* to, const void* from, uint64_t bytes, int32_t, void*) {
    std::memmove(to, from, bytes);
  }

  kit::Operators operators() {
    const dl::kernels::OperatorList list = dl::kernels::operators();
    return {list.data, list.count};
  }
};

}  // namespace __chip__

// The library's only exported symbol.
DL_KIT_VENDOR(__chip__::Vendor)
