// Operators that later torch releases have removed. Each is compiled if torch's headers have it.
#if __has_include(<ATen/ops/cholesky.h>)
#include <ATen/ops/_linalg_check_errors.h>
#include <ATen/ops/cholesky.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linalg_cholesky_ex.h>

#include "aten/composed/linalg/matrices.h"
#include "aten/kernel/composed.h"

namespace dl::core::composed {
namespace {

Tensor cholesky(const Tensor& self, bool upper) {
  if (!plans::are_square(self)) return on_cpu<"cholesky", decltype(cholesky)>(self, upper);
  if (self.numel() == 0) return at::empty_like(self, at::MemoryFormat::Contiguous);
  const auto [factor, info] = at::linalg_cholesky_ex(self, upper, /*check_errors=*/false);
  at::_linalg_check_errors(info, "cholesky", self.dim() == 2);
  return factor;
}

Tensor& cholesky_out(const Tensor& self, bool upper, Tensor& out) {
  return write_to(out, composed::cholesky(self, upper));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("cholesky", cholesky);
  DL_COMPOSED("cholesky.out", cholesky_out);
}

}  // namespace dl::core::composed
#endif
