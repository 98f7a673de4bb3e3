// Shims of all operators of the contract, indexed by number: a host calls the shim instead of the
// vendor's function if a rule names the operator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dl/operator_call.hpp"
#include "dl/vendor.h"

namespace dl::adaptor {

struct Shim {
  const char* name;
  uint64_t fingerprint;
  dl_function_t function;
};

const Shim* shims();
size_t shim_count();

// Common body of all shims. `values` are the addresses of the arguments, beginning with the
// context's; handles among the arguments may be replaced.
diopiError_t adapted_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke);

}  // namespace dl::adaptor
