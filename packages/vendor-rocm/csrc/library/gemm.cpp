#include "library/gemm.h"

#include <cstdint>

#include "dl/kit/blaslt_products.h"
#include "library/hipblaslt_api.h"
#include "runtime/driver.h"

namespace dl::rocm {
namespace {

blaslt::Library& library() {
  static blaslt::Library found;
  return found;
}

bool is_available() {
  static const bool answer = [] {
    int version = 0;
    if (!libraries_enabled() || the_driver().driver_version(&version) != driver::kSuccess ||
        version < blaslt::kOldestDriver)
      return false;
    try {
      return library().multiply.available();
    } catch (const kit::Error&) {
      return false;
    }
  }();
  return answer;
}

}  // namespace

bool gemm_with_library(const kit::Gemm& call) {
  int device = 0;
  return is_available() && the_driver().device_current(&device) == driver::kSuccess &&
         kit::BlasltProducts<blaslt::Library>::multiply(library(), call,
                                                        static_cast<uintptr_t>(device));
}

}  // namespace dl::rocm
