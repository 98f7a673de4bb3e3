// Filling, clamping, isin and other elementwise operators that chain existing ones.
#include <ATen/ops/add.h>
#include <ATen/ops/zeros.h>

#include "aten/composed/elementwise_forms.h"

namespace dl::core::composed {
namespace {

Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
             const std::optional<Tensor>& max) {
  const bool low = min && min->defined(), high = max && max->defined();
  TORCH_CHECK(low || high, "torch.clamp: At least one of 'min' or 'max' must not be None");
  const Tensor raised = low ? self.maximum(*min) : self;
  return high ? raised.minimum(*max) : raised;
}
Tensor& clamp_out(const Tensor& self, const std::optional<Tensor>& min,
                  const std::optional<Tensor>& max, Tensor& out) {
  return write_to(out, clamp(self, min, max));
}
Tensor& clamp_inplace(Tensor& self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max) {
  return write_to(self, clamp(self, min, max));
}

// The comparison of all pairs, as many at a time as memory should hold.
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
// As torch, which converts no bools here.
Tensor& write_bools(Tensor& out, const Tensor& result) {
  TORCH_CHECK(out.scalar_type() == at::kBool, "Expected out tensor to have dtype bool, but got ",
              out.scalar_type(), " instead");
  return write_to(out, result);
}
void check_isin(const Tensor& tensor) {
  const auto type = tensor.scalar_type();
  TORCH_CHECK(type != at::kBool && !tensor.is_complex(),
              "Unsupported input type encountered for isin(): ", type);
}
Tensor isin(const Tensor& elements, const Tensor& tests, bool, bool invert) {
  check_isin(elements);
  check_isin(tests);
  return is_in(elements, tests, invert);
}
Tensor& isin_out(const Tensor& elements, const Tensor& tests, bool unique, bool invert,
                 Tensor& out) {
  return write_bools(out, isin(elements, tests, unique, invert));
}
Tensor isin_number(const Tensor& elements, const Scalar& test, bool, bool invert) {
  check_isin(elements);
  return (invert ? elements.ne(test) : elements.eq(test)).contiguous();
}
Tensor& isin_number_out(const Tensor& elements, const Scalar& test, bool unique, bool invert,
                        Tensor& out) {
  return write_bools(out, isin_number(elements, test, unique, invert));
}
Tensor number_isin(const Scalar& element, const Tensor& tests, bool, bool invert) {
  check_isin(tests);
  const Tensor equal = tests.numel() == 0 ? at::zeros({}, tests.options().dtype(at::kBool))
                                          : tests.eq(element).amax();
  return invert ? equal.eq(0) : equal;
}
Tensor& number_isin_out(const Scalar& element, const Tensor& tests, bool unique, bool invert,
                        Tensor& out) {
  return write_bools(out, number_isin(element, tests, unique, invert));
}

Site equal_site{"equal", {"equal"}, {Op::diopiEqual}};

bool equal(const Tensor& self, const Tensor& other) {
  const int index = core::device_of(self);
  if (index >= 0 && self.device() == other.device() && self.dtype() == other.dtype() &&
      !equal_site.disabled.load(std::memory_order_relaxed)) {
    const auto function = DL_CONTRACT_FUNCTION(device_unchecked(index), diopiEqual);
    NativeCall call(equal_site, index);
    bool result = false;
    if (function != nullptr && call.run("diopiEqual", function, &result, TensorHandle(self).get(),
                                        TensorHandle(other).get())) {
      return result;
    }
  }
  static const auto op = find_operator("aten::equal", "");
  return TypedFallback<bool(const Tensor&, const Tensor&)>::call(op, self, other);
}

bool is_set_to(const Tensor& self, const Tensor& source) {
  return self.storage().unsafeGetStorageImpl() == source.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == source.storage_offset() && self.sizes() == source.sizes() &&
         self.strides() == source.strides();
}

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

// Sums of the tensors input[0], input[1], … with the weights in each row of `coefficients`.
Tensor linear_combination(const Tensor& input, const Tensor& coefficients) {
  at::DimVector shape(input.sizes());
  shape[0] = coefficients.size(0);
  return coefficients.mm(input.reshape({input.size(0), -1})).view(shape);
}
// torch adds to what is there.
Tensor& linear_combination_out(const Tensor& input, const Tensor& coefficients, Tensor& out) {
  return out.add_(linear_combination(input, coefficients));
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  DL_COMPOSED("clamp.Tensor", clamp);
  DL_COMPOSED("clamp.Tensor_out", clamp_out);
  DL_COMPOSED("clamp_.Tensor", clamp_inplace);
  DL_COMPOSED("isin.Tensor_Tensor", isin);
  DL_COMPOSED("isin.Tensor_Tensor_out", isin_out);
  DL_COMPOSED("isin.Tensor_Scalar", isin_number);
  DL_COMPOSED("isin.Tensor_Scalar_out", isin_number_out);
  DL_COMPOSED("isin.Scalar_Tensor", number_isin);
  DL_COMPOSED("isin.Scalar_Tensor_out", number_isin_out);
  DL_KERNEL("equal", equal);
  DL_COMPOSED("is_set_to", is_set_to);
  DL_COMPOSED("_add_relu.Tensor", add_relu);
  DL_COMPOSED("_add_relu.out", add_relu_out);
  DL_COMPOSED("_add_relu_.Tensor", add_relu_inplace);
  DL_COMPOSED("_add_relu.Scalar", add_relu_number);
  DL_COMPOSED("_add_relu_.Scalar", add_relu_number_inplace);
  DL_COMPOSED("_compute_linear_combination", linear_combination);
  DL_COMPOSED("_compute_linear_combination.out", linear_combination_out);
}

}  // namespace dl::core::composed
