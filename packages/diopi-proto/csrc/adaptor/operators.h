// Shims of the operators for a vendor with an adaptor.
#pragma once

#include "adaptor/shims.h"

namespace dl::adaptor {

const Shim* shims();
inline constexpr size_t shim_count() { return kShims; }

diopiError_t adapted_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke);

}  // namespace dl::adaptor
