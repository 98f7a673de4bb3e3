#include "library/convolution.h"

#include <cstdint>

#include "dl/kit/library_calls.h"
#include "library/convolution_plan.h"
#include "runtime/driver.h"

namespace dl::rocm {

using namespace miopen;

namespace miopen {

Library* library() {
  static Library* const found =
      kit::open_library<Library>(libraries_enabled(), [](Library& opened) {
        return opened.weight_gradient_run.available() && opened.set_attribute.available();
      });
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
  return kit::convolve_with_plan<Handle, Plan>(*library(), call, static_cast<uintptr_t>(device),
                                               false);
}

}  // namespace dl::rocm
