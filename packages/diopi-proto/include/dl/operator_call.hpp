// Calls of an operator through an array of pointers to its arguments.
#pragma once

#include <utility>

#include "dl/operator.h"

namespace dl {

// Calls a function with the arguments behind `values`; values[0], the context's, is not read.
using Invoke = diopiError_t (*)(dl_function_t function, diopiContextHandle_t ctx, void** values);

// Call of an operator with this signature. Operators with the same signature share the code.
template <typename Function>
struct OperatorCall;

template <typename... Args>
struct OperatorCall<diopiError_t(diopiContextHandle_t, Args...)> {
  static diopiError_t invoke(dl_function_t function, diopiContextHandle_t ctx, void** values) {
    return call(function, ctx, values, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... kIndices>
  static diopiError_t call(dl_function_t function, diopiContextHandle_t ctx, void** values,
                           std::index_sequence<kIndices...>) {
    using Function = diopiError_t (*)(diopiContextHandle_t, Args...);
    return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function))(
        ctx, *static_cast<Args*>(values[kIndices + 1])...);
  }
};

}  // namespace dl
