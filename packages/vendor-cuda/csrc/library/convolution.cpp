#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/convolution_seats.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::cuda {

using namespace cudnn;

namespace cudnn {

Library* library() {
  static Library* const found = []() -> Library* {
    if (!libraries_wanted()) return nullptr;
    static Library opened;
    // cuDNN opens it when a graph is made, and ends the process where it finds none.
    static kit::Library blaslt(blaslt_companion().names(), "cuBLASLt",
                               blaslt_companion().way_out());
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

bool convolve_by_library(Convolution call) {
  if (library() == nullptr) return false;
  for (const Images* images : {&call.input, &call.weight, &call.output}) {
    if (type_of(images->dtype) < 0) return false;
  }
  driver::Context context = nullptr;
  if (!kit::settle_strides(&call) || the_driver().context_current(&context) != driver::kSuccess)
    return false;
  const auto device = reinterpret_cast<uintptr_t>(context);
  auto& seat = kit::own_seat<Handle, Plan>();
  const Handle handle = seat.handle(device, [] {
    Handle made = nullptr;
    return library()->create(&made) == kSuccess ? made : nullptr;
  });
  if (handle == nullptr) return false;
  const auto plan = seat.plans().get(kit::ConvolutionKey(device, call, true),
                                     [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

}  // namespace dl::cuda
