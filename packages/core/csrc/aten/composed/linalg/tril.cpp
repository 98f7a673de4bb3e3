// tril_ and triu_.
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>

#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

at::Tensor& tril_in_place(at::Tensor& self, int64_t diagonal) {
  return self.copy_(at::tril(self, diagonal));
}

at::Tensor& triu_in_place(at::Tensor& self, int64_t diagonal) {
  return self.copy_(at::triu(self, diagonal));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("tril_", tril_in_place);
  DL_COMPOSED("triu_", triu_in_place);
}

}  // namespace dl::core::composed
