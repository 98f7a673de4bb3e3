#include "aten/plans/elementwise.h"

#include <ATen/ScalarOps.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>

#include "aten/plans/complex_scalar.h"

namespace dl::core {
namespace {

bool on_dl(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

bool is_cpu_scalar(const at::Tensor& tensor) { return tensor.dim() == 0 && tensor.is_cpu(); }

bool computable(c10::ScalarType type) { return to_diopi(type) != diopi_dtype_unsupported; }

// Converts a scalar for a kernel on operands of `type`.
diopiScalar_t scalar_as(const at::Scalar& value, c10::ScalarType type) {
  if (c10::isFloatingType(type)) {
    diopiScalar_t result;
    result.stype = diopi_dtype_float64;
    result.fval = value.toDouble();
    return result;
  }
  return to_scalar(value);
}

// Returns the value of a CPU scalar tensor, read directly: item() would call the dispatcher.
at::Scalar value_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return *tensor.const_data_ptr<double>();
    case at::kLong:
      return *tensor.const_data_ptr<int64_t>();
    case at::kFloat:
      return *tensor.const_data_ptr<float>();
    case at::kBool:
      return c10::load(tensor.const_data_ptr<bool>());
    default:
      return tensor.item();
  }
}

// Returns true if type promotion with this scalar leaves the dtype of a tensor of `type` unchanged.
// promotion.
bool keeps_type(c10::ScalarType type, const at::Scalar& value) {
  if (c10::isFloatingType(type) || c10::isComplexType(type)) return !value.isComplex();
  if (c10::isIntegralType(type, false)) return value.isIntegral(true);
  return type == at::kBool && value.isBoolean();
}

}  // namespace

const at::Tensor* ElementwisePlan::prepared(const at::Tensor& input, c10::ScalarType type,
                                            at::Tensor& slot) {
  const bool elsewhere = !on_dl(input);
  if (!elsewhere && input.scalar_type() == type) return &input;
  if (elsewhere && c10::isComplexType(type) && is_cpu_scalar(input)) {
    slot = complex_scalar_on(device_, type, value_of(input));
    if (slot.defined()) return &slot;
  }
  slot = elsewhere ? input.to(out_.device(), type) : input.to(type);
  return &slot;
}

void ElementwisePlan::set_target(c10::ScalarType type) {
  if (out_.scalar_type() != type) target_ = empty_on(device_, out_.sizes(), type);
}

bool ElementwisePlan::unary_general(const at::Tensor& given, const at::Tensor& self,
                                    Promotion promotion) {
  if (!on_dl(self)) return false;
  out_ = given;
  auto iterator = promotion == Promotion::floating ? at::TensorIterator::unary_float_op(out_, self)
                                                   : at::TensorIterator::unary_op(out_, self);
  out_ = iterator.output();
  if (!on_dl(out_) || !computable(iterator.common_dtype())) return false;
  device_ = out_.get_device();
  self_ = prepared(self, iterator.common_dtype(), kept_[0]);
  set_target(iterator.common_dtype());
  return true;
}

bool ElementwisePlan::unary_into_like(const at::Tensor& self) {
  return on_dl(self) && unary(at::empty_like(self), self, Promotion::same);
}

bool ElementwisePlan::binary_general(const at::Tensor& given, const at::Tensor& self,
                                     const at::Tensor& other, Promotion promotion) {
  // The most common special case: a dense tensor and a scalar.
  const bool is_number = is_cpu_scalar(other) && !other.is_complex();
  if (is_number && on_dl(self) && other.unsafeGetTensorImpl()->is_wrapped_number()) {
    return with_scalar(given, self, value_of(other), promotion);
  }
  if (!on_dl(self) && !on_dl(other)) return false;
  out_ = given;
  auto iterator =
      promotion == Promotion::comparison ? at::TensorIterator::comparison_op(out_, self, other)
      : promotion == Promotion::floating ? at::TensorIterator::binary_float_op(out_, self, other)
                                         : at::TensorIterator::binary_op(out_, self, other);
  out_ = iterator.output();
  const c10::ScalarType type = iterator.common_dtype();
  if (!on_dl(out_) || !computable(type)) return false;
  device_ = out_.get_device();
  self_ = prepared(self, type, kept_[0]);
  if (is_number) {
    scalar_ = true;
    value_ = scalar_as(value_of(other), type);
  } else {
    other_ = prepared(other, type, kept_[1]);
  }
  set_target(promotion == Promotion::comparison ? at::kBool : type);
  return true;
}

bool ElementwisePlan::with_scalar(const at::Tensor& given, const at::Tensor& self,
                                  const at::Scalar& other, Promotion promotion, ScalarRole number) {
  const auto* impl = self.unsafeGetTensorImpl();
  const c10::ScalarType type = self.scalar_type();
  const bool compares = promotion == Promotion::comparison;
  const auto result = compares ? caffe2::TypeMeta::Make<bool>() : impl->dtype();
  if (C10_LIKELY(on_dl(self) && keeps_type(type, other) && !promotes(self, promotion) &&
                 computable(type))) {
    scalar_ = true;
    value_ = scalar_as(other, type);
    const bool laid_out = given.defined() || number == ScalarRole::parameter;
    if (C10_LIKELY((laid_out ? impl->is_contiguous() : has_standard_strides(impl)) &&
                   usable(given, self, result))) {
      start(given, self);
      if (!given.defined())
        out_ = compares ? empty_contiguous_like(self, result) : empty_contiguous_like(self);
      return true;
    }
    const bool fits = !given.defined() || given.dtype() == impl->dtype();
    if (!compares && fits && (laid_out || !impl->is_contiguous())) {
      // Input and output have the same dtype: only sizes and strides need to be checked.
      out_ = given;
      auto iterator = at::TensorIterator::unary_op(out_, self);
      out_ = iterator.output();
      if (!on_dl(out_)) return false;
      device_ = out_.get_device();
      self_ = &self;
      set_target(type);
      return true;
    }
  }
  if (number == ScalarRole::parameter) return with_parameter(given, self, other);
  // Type promotion is needed, and torch decides it with the scalar as a tensor.
  at::Tensor tensor = c10::scalar_to_tensor(other);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  out_ = given;
  auto iterator = compares ? at::TensorIterator::comparison_op(out_, self, tensor)
                  : promotion == Promotion::floating
                      ? at::TensorIterator::binary_float_op(out_, self, tensor)
                      : at::TensorIterator::binary_op(out_, self, tensor);
  out_ = iterator.output();
  const c10::ScalarType common = iterator.common_dtype();
  if (!on_dl(out_) || !computable(common) || other.isComplex()) return false;
  device_ = out_.get_device();
  self_ = prepared(self, common, kept_[0]);
  scalar_ = true;
  value_ = scalar_as(other, common);
  set_target(compares ? at::kBool : common);
  return true;
}

// torch converts the operand first, and derives the strides from the converted tensor.
bool ElementwisePlan::with_parameter(const at::Tensor& given, const at::Tensor& self,
                                     const at::Scalar& other) {
  const c10::ScalarType common = at::result_type(self, other);
  if (!on_dl(self) || !computable(common) || other.isComplex()) return false;
  self_ = prepared(self, common, kept_[0]);
  out_ = given;
  auto iterator = at::TensorIteratorConfig()
                      .add_output(out_)
                      .add_const_input(*self_)
                      .promote_inputs_to_common_dtype(true)
                      .cast_common_dtype_to_outputs(true)
                      .enforce_safe_casting_to_output(true)
                      .build();
  out_ = iterator.output();
  if (!on_dl(out_)) return false;
  device_ = out_.get_device();
  scalar_ = true;
  value_ = scalar_as(other, common);
  set_target(common);
  return true;
}

bool ElementwisePlan::ternary_general(const at::Tensor& given, const at::Tensor& first,
                                      const at::Tensor& second, const at::Tensor& third) {
  if (!on_dl(first) || !on_dl(second) || !on_dl(third)) return false;
  out_ = given;
  auto iterator = at::TensorIteratorConfig()
                      .add_output(out_)
                      .add_const_input(first)
                      .add_const_input(second)
                      .add_const_input(third)
                      .promote_inputs_to_common_dtype(true)
                      .cast_common_dtype_to_outputs(true)
                      .enforce_safe_casting_to_output(true)
                      .build();
  out_ = iterator.output();
  const c10::ScalarType type = iterator.common_dtype();
  if (!on_dl(out_) || !computable(type)) return false;
  device_ = out_.get_device();
  self_ = prepared(first, type, kept_[0]);
  other_ = prepared(second, type, kept_[1]);
  third_ = prepared(third, type, kept_[2]);
  set_target(type);
  return true;
}

bool ElementwisePlan::select_general(const at::Tensor& given, const at::Tensor& condition,
                                     const at::Tensor& first, const at::Tensor& second) {
  if (!on_dl(condition) || condition.scalar_type() != at::kBool) return false;
  if (!on_dl(first) && !on_dl(second) && !(is_cpu_scalar(first) && is_cpu_scalar(second)))
    return false;
  const c10::ScalarType type = at::result_type(first, second);
  if (!computable(type) || (given.defined() && given.scalar_type() != type)) return false;
  const auto move = [&](const at::Tensor& input, at::Tensor& slot) {
    if (on_dl(input) && input.scalar_type() == type) return &input;
    slot = is_cpu_scalar(input) ? input.to(condition.device(), type) : input.to(type);
    return static_cast<const at::Tensor*>(&slot);
  };
  other_ = move(first, kept_[0]);
  third_ = move(second, kept_[1]);
  out_ = given;
  auto iterator = at::TensorIteratorConfig()
                      .check_all_same_dtype(false)
                      .add_output(out_)
                      .add_const_input(condition)
                      .add_const_input(*other_)
                      .add_const_input(*third_)
                      .declare_static_dtype(type)
                      .build();
  out_ = iterator.output();
  if (!on_dl(out_)) return false;
  device_ = out_.get_device();
  self_ = &condition;
  return true;
}

}  // namespace dl::core
