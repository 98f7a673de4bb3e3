// The operators of the contract by number, and for each the function that a host calls in place of
// the vendor's where a rule names it.
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

// What every shim does. `values` are the addresses of its arguments, the context's first; handles
// among them may be replaced.
diopiError_t adapted_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke);

}  // namespace dl::adaptor
