// clamp with tensor bounds.
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/elementwise_forms.h"
#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

bool is_given(const OptionalTensor& bound) { return bound && bound->defined(); }

bool is_number(const Tensor& tensor) {
  return !tensor.is_complex() && tensor.scalar_type() != at::kBool;
}
// Return true for operands that can be clamped: none is complex, and not all are boolean.
bool takes(const Tensor& self, const OptionalTensor& min, const OptionalTensor& max) {
  bool number = is_number(self);
  for (const auto& bound : {min, max}) {
    if (!is_given(bound)) continue;
    if (bound->is_complex()) return false;
    number |= is_number(*bound);
  }
  return number && !self.is_complex();
}

// Return a bound on the device of `self`; scalars on the host are moved there.
OptionalTensor move_bound(const OptionalTensor& bound, const Tensor& self) {
  if (!is_given(bound)) return std::nullopt;
  return bound->is_cpu() && bound->dim() == 0 ? bound->to(self.device()) : *bound;
}

// All operands together determine the dtype and shape of the result. minimum(maximum(...)) would
// promote two operands at a time: int64 with float16 gives float16, and that with float64 gives
// float64.
Tensor run(const Tensor& given, const Tensor& self, const OptionalTensor& low,
           const OptionalTensor& high) {
  TORCH_CHECK(is_given(low) || is_given(high),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  const OptionalTensor min = move_bound(low, self), max = move_bound(high, self);
  Tensor out = given;
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true);
  config.add_owned_output(out).add_owned_const_input(self);
  if (min) config.add_owned_const_input(*min);
  if (max) config.add_owned_const_input(*max);
  auto iterator = config.build();
  out = iterator.output();
  const c10::ScalarType type = iterator.common_dtype();
  Tensor result = self.to(type);
  if (min) result = result.maximum(min->to(type));
  if (max) result = result.minimum(max->to(type));
  return settle(given.defined(), out, result, self);
}

Tensor clamp(const Tensor& self, const OptionalTensor& min, const OptionalTensor& max) {
  if (!takes(self, min, max)) return on_cpu<"clamp.Tensor", decltype(clamp)>(self, min, max);
  return run({}, self, min, max);
}
Tensor& clamp_out(const Tensor& self, const OptionalTensor& min, const OptionalTensor& max,
                  Tensor& out) {
  if (!takes(self, min, max))
    return on_cpu<"clamp.Tensor_out", decltype(clamp_out)>(self, min, max, out);
  run(out, self, min, max);
  return out;
}
Tensor& clamp_inplace(Tensor& self, const OptionalTensor& min, const OptionalTensor& max) {
  if (!takes(self, min, max))
    return on_cpu<"clamp_.Tensor", decltype(clamp_inplace)>(self, min, max);
  run(self, self, min, max);
  return self;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("clamp.Tensor", clamp);
  DL_COMPOSED("clamp.Tensor_out", clamp_out);
  DL_COMPOSED("clamp_.Tensor", clamp_inplace);
}

}  // namespace dl::core::composed
