// The vendor's class: dl::kit::Runtime provides the table.
#ifndef DL_CAMBRICON_RUNTIME_VENDOR_H_
#define DL_CAMBRICON_RUNTIME_VENDOR_H_

#include "dl/kit/runtime.h"
#include "operators/library.h"
#include "runtime/api.h"

namespace dl::cambricon {

class Vendor : public kit::Runtime<Api> {
 public:
  static constexpr const char* kName = "cambricon";
  static constexpr const char* kVersion = DL_CAMBRICON_VERSION;
  static constexpr const char* kDevicesFrom = "MLU_VISIBLE_DEVICES";

  kit::Operators operators();
  // The functions that compute the operators, for the generated code.
  kit::library::Backend& operator_library(diopiContextHandle_t) { return library_.backend(); }

 private:
  OperatorLibrary library_;
};

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_RUNTIME_VENDOR_H_
