#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/convolution_cache.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::rocm {

using namespace miopen;

namespace miopen {

Library* library() {
  static Library* const found = []() -> Library* {
    if (!libraries_enabled()) return nullptr;
    static Library opened;
    try {
      return opened.weight_gradient_run.available() && opened.set_attribute.available() ? &opened
                                                                                        : nullptr;
    } catch (const kit::Error&) {
      return nullptr;
    }
  }();
  return found;
}

}  // namespace miopen

namespace {

// Returns true if all tensors have the same supported dtype and dense layout: few of MIOpen's
// solutions support anything else.
bool have_same_layout(const kit::Convolution& call) {
  const kit::Images* const tensors[] = {&call.input, &call.weight, &call.output};
  const auto all_dense = [&](bool channels_last) {
    for (const kit::Images* images : tensors) {
      if (!kit::is_dense(*images, call.dimensions(), channels_last)) return false;
    }
    return true;
  };
  for (const kit::Images* images : tensors) {
    if (images->dtype != call.input.dtype || type_of(images->dtype) < 0) return false;
  }
  return all_dense(false) || all_dense(true);
}

}  // namespace

bool has_convolution_library() { return library() != nullptr; }

bool convolve_with_library(kit::Convolution call) {
  int device = 0;
  if (!has_convolution_library() || !have_same_layout(call) || !kit::normalize_strides(&call) ||
      the_driver().device_current(&device) != driver::kSuccess)
    return false;
  const auto number = static_cast<uintptr_t>(device);
  auto& cache = kit::thread_cache<Handle, Plan>();
  const Handle handle = cache.handle(number, [] {
    Handle made = nullptr;
    return library()->create(&made) == kSuccess ? made : nullptr;
  });
  if (handle == nullptr) return false;
  const auto plan = cache.plans().get(kit::ConvolutionKey(number, call, false),
                                      [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

}  // namespace dl::rocm
