#include "aten/kernel/deterministic.h"

#include <ATen/Context.h>

#include <string>

#include "runtime/device.h"

namespace dl::core {

bool wants_fixed_order(int device) {
  return C10_UNLIKELY(at::globalContext().deterministicAlgorithms()) && device >= 0 &&
         !device_unchecked(device).reference;
}

void alert_open_order(std::string_view overload) {
  at::globalContext().alertNotDeterministic(std::string(overload) + " on dl");
}

bool fills_new_memory() {
  const auto& context = at::globalContext();
  return C10_UNLIKELY(context.deterministicAlgorithms()) &&
         context.deterministicFillUninitializedMemory();
}

}  // namespace dl::core
