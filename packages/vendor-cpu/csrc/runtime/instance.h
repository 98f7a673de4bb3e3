// One instance of the vendor: everything that it keeps for its host.
#ifndef DL_CPU_RUNTIME_INSTANCE_H_
#define DL_CPU_RUNTIME_INSTANCE_H_

#include <cstdint>

#include "dl/vendor.h"

namespace dl::cpu {

struct Instance {
  dl_vendor_t base;  // must be first: handles are pointers to it
  const dl_host_t* host;
  int32_t device_count;
};

inline Instance& instance_of(dl_vendor_t* vendor) { return *reinterpret_cast<Instance*>(vendor); }

// Null when `device` exists.
dl_status_t* check_device(dl_vendor_t* vendor, int32_t device);

}  // namespace dl::cpu

#endif  // DL_CPU_RUNTIME_INSTANCE_H_
