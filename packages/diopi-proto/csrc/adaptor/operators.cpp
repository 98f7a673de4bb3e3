#include "adaptor/operators.h"

#include "dl/operator_call.hpp"

namespace dl::adaptor {
namespace {

enum Number : size_t {
#define DL_NUMBER(op) k_##op,
  DIOPI_EACH_OPERATOR(DL_NUMBER)
#undef DL_NUMBER
      kCount
};

template <typename Function>
struct Signature;

template <typename... Args>
struct Signature<diopiError_t(diopiContextHandle_t, Args...)> {
  template <size_t kNumber>
  static diopiError_t shim(diopiContextHandle_t ctx, Args... args) {
    void* values[] = {
        &ctx,
        const_cast<void*>(static_cast<const void*>(&args))...,
    };
    return adapted_call(kNumber, ctx, values,
                        OperatorCall<diopiError_t(diopiContextHandle_t, Args...)>::invoke);
  }
};

template <typename Function>
dl_function_t erased(Function* function) {
  return reinterpret_cast<dl_function_t>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

const Shim* shims() {
  static const Shim all[] = {
#define DL_SHIM(op) {#op, DIOPI_FINGERPRINT_##op, erased(&Signature<decltype(::op)>::shim<k_##op>)},
      DIOPI_EACH_OPERATOR(DL_SHIM)
#undef DL_SHIM
  };
  return all;
}

size_t shim_count() { return kCount; }

}  // namespace dl::adaptor
