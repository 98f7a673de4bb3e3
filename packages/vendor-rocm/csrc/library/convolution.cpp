#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/convolution_seats.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::rocm {

using namespace miopen;

namespace miopen {

Library* library() {
  static Library* const found = []() -> Library* {
    if (!libraries_wanted()) return nullptr;
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

// Of one dtype that it knows, and dense in one order: few of its solutions take more.
bool are_alike(const kit::Convolution& call) {
  const kit::Images* const tensors[] = {&call.input, &call.weight, &call.output};
  const auto all_lie = [&](bool channels_last) {
    for (const kit::Images* images : tensors) {
      if (!kit::lies_densely(*images, call.dimensions(), channels_last)) return false;
    }
    return true;
  };
  for (const kit::Images* images : tensors) {
    if (images->dtype != call.input.dtype || type_of(images->dtype) < 0) return false;
  }
  return all_lie(false) || all_lie(true);
}

}  // namespace

bool convolves_by_library() { return library() != nullptr; }

bool convolve_by_library(kit::Convolution call) {
  int device = 0;
  if (!convolves_by_library() || !are_alike(call) || !kit::settle_strides(&call) ||
      the_driver().device_current(&device) != driver::kSuccess)
    return false;
  const auto number = static_cast<uintptr_t>(device);
  auto& seat = kit::own_seat<Handle, Plan>();
  const Handle handle = seat.handle(number, [] {
    Handle made = nullptr;
    return library()->create(&made) == kSuccess ? made : nullptr;
  });
  if (handle == nullptr) return false;
  const auto plan = seat.plans().get(kit::ConvolutionKey(number, call, false),
                                     [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

}  // namespace dl::rocm
