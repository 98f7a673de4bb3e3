// complex and polar: they write through a view of the complex result as real pairs.
#include <ATen/ops/view_as_real.h>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

c10::ScalarType complex_of(const Tensor& a, const Tensor& b, const char* name) {
  TORCH_CHECK(a.dtype() == b.dtype(), "Expected object of scalar type ", a.scalar_type(),
              " but got scalar type ", b.scalar_type(), " for second argument of torch.", name);
  TORCH_CHECK(c10::isFloatingType(a.scalar_type()) && a.scalar_type() != at::kBFloat16,
              "Expected both inputs to be Half, Float or Double tensors but got ", a.scalar_type(),
              " and ", b.scalar_type());
  return c10::toComplexType(a.scalar_type());
}

// Resizes `out` to the broadcast shape of the operands and returns views of its parts.
struct Parts {
  Tensor real, imag;
};
Parts parts_of(Tensor& out, const Tensor& a, const Tensor& b, c10::ScalarType type) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(true).check_all_same_dtype(false);
  config.add_owned_output(out).add_owned_const_input(a).add_owned_const_input(b);
  if (!out.defined()) config.declare_static_dtype(type);
  auto iterator = config.build();
  out = iterator.output();
  const Tensor pairs = at::view_as_real(out);
  return {pairs.select(-1, 0), pairs.select(-1, 1)};
}

void check_type(const Tensor& out, c10::ScalarType type) {
  TORCH_CHECK(out.scalar_type() == type, "Expected object of scalar type ", type,
              " but got scalar type ", out.scalar_type(), " for argument 'out'");
}

Tensor& complex_out(const Tensor& real, const Tensor& imag, Tensor& out) {
  const auto type = complex_of(real, imag, "complex");
  if (out.defined()) check_type(out, type);
  const Parts parts = parts_of(out, real, imag, type);
  parts.real.copy_(real);
  parts.imag.copy_(imag);
  return out;
}
Tensor complex(const Tensor& real, const Tensor& imag) {
  Tensor out;
  return complex_out(real, imag, out);
}

Tensor& polar_out(const Tensor& abs, const Tensor& angle, Tensor& out) {
  const auto type = complex_of(abs, angle, "polar");
  TORCH_CHECK_NOT_IMPLEMENTED(type != at::kComplexHalf, "\"polar_cpu\" not implemented for '",
                              abs.scalar_type(), "'");
  if (out.defined()) check_type(out, type);
  const Parts parts = parts_of(out, abs, angle, type);
  parts.real.copy_(angle.cos().mul(abs));
  parts.imag.copy_(angle.sin().mul(abs));
  return out;
}
Tensor polar(const Tensor& abs, const Tensor& angle) {
  Tensor out;
  return polar_out(abs, angle, out);
}

Tensor& conj_physical_out(const Tensor& self, Tensor& out) {
  iterator_of(out, self, Promotion::same);
  out.copy_(self);
  if (self.is_complex()) at::view_as_real(out).select(-1, 1).neg_();
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("complex", complex);
  DL_COMPOSED("complex.out", complex_out);
  DL_COMPOSED("polar", polar);
  DL_COMPOSED("polar.out", polar_out);
  DL_COMPOSED("conj_physical.out", conj_physical_out);
}

}  // namespace dl::core::composed
