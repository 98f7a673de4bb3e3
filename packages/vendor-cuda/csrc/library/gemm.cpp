#include "library/gemm.h"

#include <cstdint>

#include "dl/kit/blaslt_products.h"
#include "dl/kit/library_calls.h"
#include "library/blaslt_api.h"
#include "runtime/driver.h"

namespace dl::cuda {
namespace {

blaslt::Library* library() {
  static auto* const found = kit::open_library<blaslt::Library>(
      libraries_enabled(), [](blaslt::Library& opened) { return opened.multiply.available(); });
  return found;
}

}  // namespace

bool gemm_with_library(const kit::Gemm& call) {
  driver::Context context = nullptr;
  return library() != nullptr && the_driver().context_current(&context) == driver::kSuccess &&
         kit::BlasltProducts<blaslt::Library>::multiply(*library(), call,
                                                        reinterpret_cast<uintptr_t>(context));
}

}  // namespace dl::cuda
