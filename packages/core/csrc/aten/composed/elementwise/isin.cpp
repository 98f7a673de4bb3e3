// isin: tests which elements are contained in another tensor.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"
#include "aten/layout/outputs.h"

namespace dl::core::composed {
namespace {

// Compares all pairs, in chunks that limit the memory for intermediate results.
Tensor is_in(const Tensor& elements, const Tensor& tests, bool invert) {
  constexpr int64_t kPairs = 1 << 22;
  const Tensor column = elements.reshape({-1, 1}), row = tests.reshape({1, -1});
  const int64_t at_once = std::max<int64_t>(1, kPairs / std::max<int64_t>(1, column.numel()));
  Tensor found = at::zeros(elements.sizes(), elements.options().dtype(at::kBool));
  for (int64_t at = 0; at < row.numel() && column.numel() > 0; at += at_once) {
    const Tensor some = row.narrow(1, at, std::min(at_once, row.numel() - at));
    found.logical_or_(column.eq(some).amax(1).view(elements.sizes()));
  }
  return invert ? found.eq(0) : found;
}
// As in torch, boolean results are not converted to another dtype.
Tensor& write_bools(Tensor& out, const Tensor& result) {
  TORCH_CHECK(out.scalar_type() == at::kBool, "Expected out tensor to have dtype bool, but got ",
              out.scalar_type(), " instead");
  return write_to(out, result);
}
void check_isin(c10::ScalarType type) {
  TORCH_CHECK(type != at::kBool && type != at::kComplexFloat && type != at::kComplexDouble,
              "Unsupported input type encountered for isin(): ", type);
}
// As in torch's kernel, which complex half tensors reach because its first check accepts them.
void check_comparable(const Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.scalar_type() != at::kComplexHalf,
                              "\"isin_default_cpu\" not implemented for '", tensor.scalar_type(),
                              "'");
}
Tensor isin(const Tensor& elements, const Tensor& tests, bool, bool invert) {
  check_isin(elements.scalar_type());
  check_isin(tests.scalar_type());
  check_comparable(elements);
  check_comparable(tests);
  return is_in(elements, tests, invert);
}
Tensor& isin_out(const Tensor& elements, const Tensor& tests, bool unique, bool invert,
                 Tensor& out) {
  return write_bools(out, isin(elements, tests, unique, invert));
}
Tensor isin_scalar(const Tensor& elements, const Scalar& test, bool, bool invert) {
  check_isin(elements.scalar_type());
  check_isin(test.type());
  return (invert ? elements.ne(test) : elements.eq(test)).contiguous();
}
Tensor& isin_scalar_out(const Tensor& elements, const Scalar& test, bool unique, bool invert,
                        Tensor& out) {
  return write_bools(out, isin_scalar(elements, test, unique, invert));
}
Tensor scalar_isin(const Scalar& element, const Tensor& tests, bool, bool invert) {
  check_isin(tests.scalar_type());
  check_isin(element.type());
  check_comparable(tests);
  const Tensor equal = tests.numel() == 0 ? at::zeros({}, tests.options().dtype(at::kBool))
                                          : tests.eq(element).amax();
  return invert ? equal.eq(0) : equal;
}
Tensor& scalar_isin_out(const Scalar& element, const Tensor& tests, bool unique, bool invert,
                        Tensor& out) {
  return write_bools(out, scalar_isin(element, tests, unique, invert));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("isin.Tensor_Tensor", isin);
  DL_COMPOSED("isin.Tensor_Tensor_out", isin_out);
  DL_COMPOSED("isin.Tensor_Scalar", isin_scalar);
  DL_COMPOSED("isin.Tensor_Scalar_out", isin_scalar_out);
  DL_COMPOSED("isin.Scalar_Tensor", scalar_isin);
  DL_COMPOSED("isin.Scalar_Tensor_out", scalar_isin_out);
}

}  // namespace dl::core::composed
