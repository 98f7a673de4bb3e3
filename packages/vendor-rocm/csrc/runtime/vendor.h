// The vendor's class: all of the table comes from dl::kit::Runtime.
#ifndef DL_ROCM_RUNTIME_VENDOR_H_
#define DL_ROCM_RUNTIME_VENDOR_H_

#include "dl/kit/runtime.h"
#include "runtime/api.h"

namespace dl::rocm {

class Vendor : public kit::Runtime<Api> {
 public:
  static constexpr const char* kName = "rocm";
  static constexpr const char* kVersion = DL_ROCM_VERSION;
  static constexpr const char* kDevicesFrom = "HIP_VISIBLE_DEVICES";

  kit::Operators operators();
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_VENDOR_H_
