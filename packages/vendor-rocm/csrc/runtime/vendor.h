// The vendor's class: all of the table comes from dl::kit::Runtime, and extensions from mixins.
#ifndef DL_ROCM_RUNTIME_VENDOR_H_
#define DL_ROCM_RUNTIME_VENDOR_H_

#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/runtime.h"
#include "runtime/api.h"

namespace dl::rocm {

class Vendor : public kit::LaunchingKernels<kit::Capturing<kit::Runtime<Api>>> {
 public:
  static constexpr const char* kName = "rocm";
  static constexpr const char* kVersion = DL_ROCM_VERSION;
  static constexpr const char* kDevicesFrom = "HIP_VISIBLE_DEVICES";

  kit::Operators operators();
  static dl_extension_t* extensions();
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_VENDOR_H_
