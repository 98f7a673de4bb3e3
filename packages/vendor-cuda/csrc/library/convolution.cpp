#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/library_calls.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::cuda {

using namespace cudnn;

namespace cudnn {

Library* library() {
  static Library* const found =
      kit::open_library<Library>(libraries_enabled(), [](Library& opened) {
        // cuDNN opens cuBLASLt when a graph is created, and terminates the process if it is
        // missing.
        static kit::Library blaslt(blaslt_companion().names(), "cuBLASLt",
                                   blaslt_companion().remedy());
        return opened.version() >= kOldest && opened.runtime_version() >= kOldestRuntime &&
               opened.execute.available() && blaslt.has("cublasLtMatmul");
      });
  return found;
}

}  // namespace cudnn

bool convolve_with_library(Convolution call) {
  if (library() == nullptr) return false;
  for (const Images* images : {&call.input, &call.weight, &call.output}) {
    if (type_of(images->dtype) < 0) return false;
  }
  driver::Context context = nullptr;
  if (!kit::normalize_strides(&call) || the_driver().context_current(&context) != driver::kSuccess)
    return false;
  return kit::convolve_with_plan<Handle, Plan>(*library(), call,
                                               reinterpret_cast<uintptr_t>(context), true);
}

}  // namespace dl::cuda
