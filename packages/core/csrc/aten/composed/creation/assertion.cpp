// Assertions about values. The host reads the value immediately, so that a failure raises here
// instead of later on a stream.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <string>
#include <string_view>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

void assert_value(const Tensor& self) {
  TORCH_CHECK(self.is_nonzero(), "Expected Tensor with single nonzero value, but got zero");
}

void assert_value_or(const Tensor& self, std::string_view message) {
  TORCH_CHECK(self.is_nonzero(), message.empty() ? "Assertion is failed" : std::string(message));
}

// The token orders the assertion within a graph without side effects.
Tensor functional_assert(const Tensor& self, std::string_view message, const Tensor& token) {
  assert_value_or(self, message);
  return token.clone();
}

Tensor make_token(std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                  std::optional<at::Device> device, std::optional<bool> pin_memory,
                  std::optional<at::MemoryFormat> format) {
  return at::empty({}, dtype, layout, device, pin_memory, format);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_assert_async", assert_value);
  DL_COMPOSED("_assert_async.msg", assert_value_or);
  DL_COMPOSED("_functional_assert_async.msg", functional_assert);
  DL_COMPOSED("_make_dep_token", make_token);
}

}  // namespace dl::core::composed
