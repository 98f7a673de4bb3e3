#include "library/gemm.h"

#include <cstdint>

#include "dl/kit/blaslt_products.h"
#include "library/blaslt_api.h"
#include "runtime/driver.h"

namespace dl::cuda {
namespace {

blaslt::Library& library() {
  static blaslt::Library found;
  return found;
}

bool is_available() {
  static const bool answer = [] {
    if (!libraries_enabled()) return false;
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
  driver::Context context = nullptr;
  return is_available() && the_driver().context_current(&context) == driver::kSuccess &&
         kit::BlasltProducts<blaslt::Library>::multiply(library(), call,
                                                        reinterpret_cast<uintptr_t>(context));
}

}  // namespace dl::cuda
