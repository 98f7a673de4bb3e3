// Shims of all operators of the contract, indexed by number: a host calls the shim instead of the
// vendor's function, and all shims call one body.
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

// Body of the shims. `values` are the addresses of the arguments, beginning with the context's;
// handles among the arguments may be replaced.
using Body = diopiError_t (*)(size_t number, diopiContextHandle_t ctx, void** values,
                              Invoke invoke);

enum Number : size_t {
#define DL_NUMBER(op) k_##op,
  DIOPI_EACH_OPERATOR(DL_NUMBER)
#undef DL_NUMBER
      kShims
};

template <typename Function>
struct Signature;

template <typename... Args>
struct Signature<diopiError_t(diopiContextHandle_t, Args...)> {
  template <Body kBody, size_t kNumber>
  static diopiError_t shim(diopiContextHandle_t ctx, Args... args) {
    void* values[] = {
        &ctx,
        const_cast<void*>(static_cast<const void*>(&args))...,
    };
    return kBody(kNumber, ctx, values,
                 OperatorCall<diopiError_t(diopiContextHandle_t, Args...)>::invoke);
  }
};

template <typename Function>
dl_function_t erased(Function* function) {
  return reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(function));
}

// Returns the kShims shims that call `kBody`.
template <Body kBody>
const Shim* shims_of() {
  static const Shim all[] = {
#define DL_SHIM(op) \
  {#op, DIOPI_FINGERPRINT_##op, erased(&Signature<decltype(::op)>::template shim<kBody, k_##op>)},
      DIOPI_EACH_OPERATOR(DL_SHIM)
#undef DL_SHIM
  };
  return all;
}

}  // namespace dl::adaptor
