// eye: ones on the diagonal of a matrix of zeros.
#include <ATen/core/Tensor.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/resize_output.h"

namespace dl::core::composed {
namespace {

Tensor& eye_of(int64_t rows, int64_t columns, Tensor& out) {
  TORCH_CHECK(rows >= 0, "n must be greater or equal to 0, got ", rows);
  TORCH_CHECK(columns >= 0, "m must be greater or equal to 0, got ", columns);
  at::native::resize_output(out, {rows, columns});
  out.zero_();
  out.diagonal().fill_(1);
  return out;
}

Tensor& eye_out(int64_t n, Tensor& out) { return eye_of(n, n, out); }

Tensor& eye_m_out(int64_t n, int64_t m, Tensor& out) { return eye_of(n, m, out); }

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("eye.out", eye_out);
  DL_COMPOSED("eye.m_out", eye_m_out);
}

}  // namespace dl::core::composed
