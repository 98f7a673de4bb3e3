// The vendor's class: each method fills the slot of the same name in the contract's table. The
// device shares the memory of the host, and calls return when their work is done. Hosts do without
// slots that have no method, or emulate them; docs/vendor.md of dl-diopi-proto lists all slots.
#ifndef VENDOR_H_
#define VENDOR_H_

#include <cstdint>

#include "dl/kit/operators.h"
#include "dl/kit/table.h"

namespace __chip__ {

struct Vendor : dl::kit::Instance {
  static constexpr const char* kName = "__chip__";
  static constexpr const char* kVersion = VENDOR_VERSION;
  static constexpr uint64_t kCapabilities =
      DL_CAP_HOST_ACCESSIBLE | DL_CAP_SYNCHRONOUS | DL_CAP_ANY_HOST_POINTER;

  int32_t device_count() { return 1; }
  dl_device_properties_t device_properties(int32_t device);

  void* memory_allocate(int32_t device, uint64_t bytes);
  void memory_free(int32_t device, void* memory);
  void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream);

  dl::kit::Operators operators();

  // Runs a kernel. Replace this by a call of your driver that waits for it.
  template <class Arguments>
  void launch(diopiContextHandle_t, void (*kernel)(const void*), const Arguments& arguments) {
    kernel(&arguments);
  }
};

}  // namespace __chip__

#endif  // VENDOR_H_
