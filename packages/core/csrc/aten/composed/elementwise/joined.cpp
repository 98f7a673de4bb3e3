// Operators that fuse two operations: add and relu, multiply and add.
#include <ATen/ops/add.h>

#include "aten/kernel/composed.h"
#include "aten/layout/aliases.h"

namespace dl::core::composed {
namespace {

Tensor add_relu(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return at::add(self, other, alpha).relu_();
}
Tensor& add_relu_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  return at::add_out(out, self, other, alpha).relu_();
}
Tensor& add_relu_inplace(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return self.add_(other, alpha).relu_();
}
Tensor add_relu_number(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return at::add(self, other, alpha).relu_();
}
Tensor& add_relu_number_inplace(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return self.add_(other, alpha).relu_();
}

// Weighted sums of the tensors input[0], input[1], …, one for each row of `coefficients`.
Tensor linear_combination(const Tensor& input, const Tensor& coefficients) {
  at::DimVector shape(input.sizes());
  shape[0] = coefficients.size(0);
  return coefficients.mm(input.reshape({input.size(0), -1})).view(shape);
}
// As in torch, the result is added to the values of `out`.
Tensor& linear_combination_out(const Tensor& input, const Tensor& coefficients, Tensor& out) {
  return out.add_(linear_combination(input, coefficients));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("_add_relu.Tensor", add_relu);
  DL_COMPOSED("_add_relu.out", add_relu_out);
  DL_COMPOSED("_add_relu_.Tensor", add_relu_inplace);
  DL_COMPOSED("_add_relu.Scalar", add_relu_number);
  DL_COMPOSED("_add_relu_.Scalar", add_relu_number_inplace);
  DL_COMPOSED("_compute_linear_combination", linear_combination);
  DL_COMPOSED("_compute_linear_combination.out", linear_combination_out);
}

}  // namespace dl::core::composed
