// Plans of elementwise operators: the operands that the vendor receives, and the result.
//
// Almost every call has dense operands of one dtype and one shape. Such calls take the inline paths
// below, which check nothing else. All other calls use torch's own TensorIterator, which makes
// promotion, broadcasting, output strides, resizing and overlap checks torch's by construction.
#pragma once

#include <ATen/core/Tensor.h>

#include "aten/layout/strides.h"
#include "aten/plans/stored_scalar.h"
#include "calls/call.h"
#include "contract/handle.h"
#include "memory/new_tensor.h"

namespace dl::core {

enum class Promotion {
  same,        // result in the common dtype of the inputs
  floating,    // integers are promoted to the default floating-point dtype
  comparison,  // result is bool, inputs are promoted among themselves
};

// Role of a scalar in torch: the shape of an operand affects the strides of the result.
enum class ScalarRole { operand, parameter };

// The plan of one call. Its pointers refer to the caller's tensors or to the converted ones that it
// stores.
class ElementwisePlan {
 public:
  // Each function returns false if the call must go to the fallback, which also raises torch's
  // errors. `given` is the output of out= and in-place forms, otherwise an undefined tensor.
  bool unary(const at::Tensor& given, const at::Tensor& self, Promotion promotion) {
    if (!promotes(self, promotion)) {
      const auto* impl = self.unsafeGetTensorImpl();
      if (C10_LIKELY(impl->is_contiguous() && usable(given, self, impl->dtype()))) {
        start(given, self);
        if (!given.defined()) out_ = empty_contiguous_like(self);
        return true;
      }
    }
    return unary_general(given, self, promotion);
  }

  // As unary, for operators whose results torch allocates with empty_like.
  bool unary_like(const at::Tensor& given, const at::Tensor& self) {
    if (C10_LIKELY(given.defined() || has_standard_strides(self.unsafeGetTensorImpl())))
      return unary(given, self, Promotion::same);
    return unary_into_like(self);
  }

  bool binary(const at::Tensor& given, const at::Tensor& self, const at::Tensor& other,
              Promotion promotion) {
    const auto* a = self.unsafeGetTensorImpl();
    const auto* b = other.unsafeGetTensorImpl();
    if (C10_LIKELY(a->device() == b->device() && a->dtype() == b->dtype() && a->is_contiguous() &&
                   b->is_contiguous() && a->sizes() == b->sizes() && !promotes(self, promotion))) {
      const bool compares = promotion == Promotion::comparison;
      const auto type = compares ? caffe2::TypeMeta::Make<bool>() : a->dtype();
      if (C10_LIKELY(usable(given, self, type) && apart(given, other))) {
        start(given, self);
        other_ = &other;
        if (!given.defined())
          out_ = compares ? empty_contiguous_like(self, type) : empty_contiguous_like(self);
        return true;
      }
    }
    return binary_general(given, self, other, promotion);
  }

  // As binary, for commutative operators. A host scalar as the first operand, as in torch's own
  // `mul_(Scalar)`, is not copied to the device as a tensor, but rounded as the copy would be.
  // Complex scalars are copied, because the contract does not support them.
  bool binary_commuting(const at::Tensor& given, const at::Tensor& self, const at::Tensor& other,
                        Promotion promotion) {
    const bool number_first =
        self.is_cpu() && self.dim() == 0 && !self.is_complex() && !other.is_cpu();
    if (C10_LIKELY(!number_first)) return binary(given, self, other, promotion);
    if (!binary(given, other, self, promotion)) return false;
    if (scalar_) rounded_scalar();
    return true;
  }

  // The second operand is a scalar; `other_is_scalar()` then returns true.
  bool with_scalar(const at::Tensor& given, const at::Tensor& self, const at::Scalar& other,
                   Promotion promotion, ScalarRole number = ScalarRole::operand);

  bool ternary(const at::Tensor& given, const at::Tensor& first, const at::Tensor& second,
               const at::Tensor& third) {
    if (C10_LIKELY(dense_alike(first, second, true) && dense_alike(first, third, true) &&
                   usable(given, first, first.dtype()) && apart(given, second) &&
                   apart(given, third))) {
      start(given, first);
      other_ = &second;
      third_ = &third;
      if (!given.defined()) out_ = empty_contiguous_like(first);
      return true;
    }
    return ternary_general(given, first, second, third);
  }
  // As ternary, with a boolean `condition` that takes no part in type promotion.
  bool select(const at::Tensor& given, const at::Tensor& condition, const at::Tensor& first,
              const at::Tensor& second) {
    if (C10_LIKELY(condition.scalar_type() == at::kBool && dense_alike(first, condition, false) &&
                   dense_alike(first, second, true) && usable(given, first, first.dtype()) &&
                   apart(given, condition) && apart(given, second))) {
      start(given, condition);
      other_ = &first;
      third_ = &second;
      if (!given.defined()) out_ = empty_contiguous_like(first);
      return true;
    }
    return select_general(given, condition, first, second);
  }

  int device() const { return device_; }
  bool other_is_scalar() const { return scalar_; }
  const diopiScalar_t* scalar() const { return &value_; }
  // Same, rounded to the common dtype.
  const diopiScalar_t* rounded_scalar() {
    value_ = round_scalar(value_, common_type());
    return &value_;
  }
  const at::Tensor& self() const { return *self_; }
  const at::Tensor& other() const { return *other_; }
  const at::Tensor& third() const { return *third_; }
  // The tensor that the kernel writes to.
  const at::Tensor& target() const { return target_.defined() ? target_ : out_; }
  c10::ScalarType common_type() const { return self_->scalar_type(); }

  // Call after the kernel: converts the result to the caller's dtype if necessary.
  at::Tensor finish() {
    if (C10_UNLIKELY(target_.defined())) out_.copy_(target_);
    return std::move(out_);
  }

 private:
  // Returns true if the general path must decide: for integers that are promoted, and for dtypes
  // that the contract does not support.
  static bool promotes(const at::Tensor& self, Promotion promotion) {
    const c10::ScalarType type = self.scalar_type();
    if (C10_UNLIKELY(to_diopi(type) == diopi_dtype_unsupported)) return true;
    return promotion == Promotion::floating && !c10::isFloatingType(type);
  }
  // Returns true if an explicit output fits without changes and shares no memory with `self` unless
  // it is `self`.
  static bool usable(const at::Tensor& given, const at::Tensor& self, caffe2::TypeMeta type) {
    if (!given.defined()) return true;
    const auto* out = given.unsafeGetTensorImpl();
    return out->device() == self.device() && out->dtype() == type && out->is_contiguous() &&
           out->sizes() == self.sizes() && apart(given, self);
  }
  static bool apart(const at::Tensor& given, const at::Tensor& input) {
    if (!given.defined() || given.is_same(input)) return true;
    return given.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl() !=
           input.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  }
  static bool dense_alike(const at::Tensor& a, const at::Tensor& b, bool same_type) {
    const auto* x = a.unsafeGetTensorImpl();
    const auto* y = b.unsafeGetTensorImpl();
    return x->device() == y->device() && (!same_type || x->dtype() == y->dtype()) &&
           to_diopi(a.scalar_type()) != diopi_dtype_unsupported && x->is_contiguous() &&
           y->is_contiguous() && x->sizes() == y->sizes();
  }
  void start(const at::Tensor& given, const at::Tensor& self) {
    device_ = self.unsafeGetTensorImpl()->device().index();
    self_ = &self;
    if (given.defined()) out_ = given;
  }

  bool unary_general(const at::Tensor& given, const at::Tensor& self, Promotion promotion);
  bool unary_into_like(const at::Tensor& self);
  bool binary_general(const at::Tensor& given, const at::Tensor& self, const at::Tensor& other,
                      Promotion promotion);
  bool with_parameter(const at::Tensor& given, const at::Tensor& self, const at::Scalar& other);
  bool ternary_general(const at::Tensor& given, const at::Tensor& first, const at::Tensor& second,
                       const at::Tensor& third);
  bool select_general(const at::Tensor& given, const at::Tensor& condition, const at::Tensor& first,
                      const at::Tensor& second);
  // Converts an input to `type` on the plan's device; a converted tensor is stored in `slot`.
  const at::Tensor* prepared(const at::Tensor& input, c10::ScalarType type, at::Tensor& slot);
  // Allocates a target of `type` if the output has another dtype.
  void set_target(c10::ScalarType type);

  int device_ = -1;
  bool scalar_ = false;
  diopiScalar_t value_;
  const at::Tensor* self_ = nullptr;
  const at::Tensor* other_ = nullptr;
  const at::Tensor* third_ = nullptr;
  at::Tensor out_;
  at::Tensor target_;
  at::Tensor kept_[3];
};

// The dl device of the first operand that is on one; -1 if there is none.
inline int device_of(const at::Tensor& tensor) {
  const c10::Device where = tensor.unsafeGetTensorImpl()->device();
  return where.type() == kDeviceType ? where.index() : -1;
}
template <typename... More>
int device_of(const at::Tensor& tensor, const More&... more) {
  const int index = ::dl::core::device_of(tensor);
  return index >= 0 ? index : ::dl::core::device_of(more...);
}

}  // namespace dl::core
