// Plans of padding.
#pragma once

#include "aten/composed.h"
#include "aten/plans.h"

namespace dl::core {

// A number for cells of `self`, which a plan has accepted, where the contract wants a pointer to a
// double.
class PadValue {
 public:
  PadValue(const at::Tensor& self, const at::Scalar& value);
  const double* get() const { return &value_; }

 private:
  double value_;
};
inline PadValue pad_value(const at::Tensor& self, const at::Scalar& value) {
  return PadValue(self, value);
}

namespace composed {

// torch's own, which fills and copies: for numbers that a double does not hold.
struct ConstantPad {
  static at::Tensor functional(const at::Tensor& self, at::IntArrayRef pad,
                               const at::Scalar& value);
  static at::Tensor& out(const at::Tensor& self, at::IntArrayRef pad, const at::Scalar& value,
                         at::Tensor& out);
};

}  // namespace composed

namespace plans {

enum class PadKind { reflect, replicate };

bool padded(DirectPlan& plan, const Tensor& self, at::IntArrayRef padding, int64_t spatial,
            PadKind kind);
bool padded_with(DirectPlan& plan, const Tensor& self, at::IntArrayRef pad,
                 const at::Scalar& value);

}  // namespace plans
}  // namespace dl::core
