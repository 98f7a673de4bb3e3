// Calls of an operator whose arguments are known by their addresses alone.
#pragma once

#include <utility>

#include "dl/operator.h"

namespace dl {

// Calls a function with the arguments behind `values`; the first, the context's, is not read.
using Invoke = diopiError_t (*)(dl_function_t function, diopiContextHandle_t ctx, void** values);

// For the type of one operator. Operators of one type share its code.
template <typename Function>
struct OperatorCall;

template <typename... Args>
struct OperatorCall<diopiError_t(diopiContextHandle_t, Args...)> {
  static diopiError_t invoke(dl_function_t function, diopiContextHandle_t ctx, void** values) {
    return call(function, ctx, values, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... kPlaces>
  static diopiError_t call(dl_function_t function, diopiContextHandle_t ctx, void** values,
                           std::index_sequence<kPlaces...>) {
    using Function = diopiError_t (*)(diopiContextHandle_t, Args...);
    return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function))(
        ctx, *static_cast<Args*>(values[kPlaces + 1])...);
  }
};

}  // namespace dl
