#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/convolution_cache.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::cuda {

using namespace cudnn;

namespace cudnn {

Library* library() {
  static Library* const found = []() -> Library* {
    if (!libraries_enabled()) return nullptr;
    static Library opened;
    // cuDNN opens cuBLASLt when a graph is created, and terminates the process if it is missing.
    static kit::Library blaslt(blaslt_companion().names(), "cuBLASLt", blaslt_companion().remedy());
    try {
      const bool is_known =
          opened.version() >= kOldest && opened.runtime_version() >= kOldestRuntime;
      return is_known && opened.execute.available() && blaslt.has("cublasLtMatmul") ? &opened
                                                                                    : nullptr;
    } catch (const kit::Error&) {
      return nullptr;
    }
  }();
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
  const auto device = reinterpret_cast<uintptr_t>(context);
  auto& cache = kit::thread_cache<Handle, Plan>();
  const Handle handle = cache.handle(device, [] {
    Handle made = nullptr;
    return library()->create(&made) == kSuccess ? made : nullptr;
  });
  if (handle == nullptr) return false;
  const auto plan = cache.plans().get(kit::ConvolutionKey(device, call, true),
                                      [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

}  // namespace dl::cuda
