#include "library/gemm.h"

#include <cstdint>

#include "dl/kit/blaslt_products.h"
#include "dl/kit/library_calls.h"
#include "library/hipblaslt_api.h"
#include "runtime/driver.h"

namespace dl::rocm {
namespace {

bool is_enabled() {
  int version = 0;
  return libraries_enabled() && the_driver().driver_version(&version) == driver::kSuccess &&
         version >= blaslt::kOldestDriver;
}

blaslt::Library* library() {
  static auto* const found = kit::open_library<blaslt::Library>(
      is_enabled(), [](blaslt::Library& opened) { return opened.multiply.available(); });
  return found;
}

}  // namespace

bool gemm_with_library(const kit::Gemm& call) {
  int device = 0;
  return library() != nullptr && the_driver().device_current(&device) == driver::kSuccess &&
         kit::BlasltProducts<blaslt::Library>::multiply(*library(), call,
                                                        static_cast<uintptr_t>(device));
}

}  // namespace dl::rocm
