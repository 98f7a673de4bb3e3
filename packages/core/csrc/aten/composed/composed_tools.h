// Helpers shared by composed operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "aten/fallback_typed.h"
#include "aten/resize_output.h"

namespace dl::core {

// Runs an overload on the CPU: `Function` is the type of the composed function, whose signature is
// the operator's.
template <typename Function, typename... Args>
decltype(auto) on_cpu(const char* name, const char* overload, Args&&... args) {
  return TypedFallback<Function>::call(find_operator(name, overload), std::forward<Args>(args)...);
}

// Writes a result into what the caller gave: resized as torch does, converted where torch would.
inline at::Tensor& write_to(at::Tensor& out, const at::Tensor& result, const char* name) {
  TORCH_CHECK(c10::canCast(result.scalar_type(), out.scalar_type()), name, ": result type ",
              result.scalar_type(), " can't be cast to the desired output type ",
              out.scalar_type());
  TORCH_CHECK(out.device() == result.device(), name, ": out is on ", out.device(),
              " and the input on ", result.device(), "; give an out on the same device.");
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

// Whether a tensor holds real numbers, for which the formulas here are meant.
inline bool is_real(const at::Tensor& tensor) {
  return c10::isFloatingType(tensor.scalar_type()) ||
         c10::isIntegralType(tensor.scalar_type(), true);
}

}  // namespace dl::core
