// The vendor's class: all of the table comes from dl::kit::Runtime.
#ifndef DL_CUDA_RUNTIME_VENDOR_H_
#define DL_CUDA_RUNTIME_VENDOR_H_

#include "dl/kit/runtime.h"
#include "runtime/api.h"

namespace dl::cuda {

class Vendor : public kit::Runtime<Api> {
 public:
  static constexpr const char* kName = "cuda";
  static constexpr const char* kVersion = DL_CUDA_VERSION;
  static constexpr const char* kDevicesFrom = "CUDA_VISIBLE_DEVICES";

  kit::Operators operators();
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_VENDOR_H_
