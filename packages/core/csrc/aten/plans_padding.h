// Plans of padding.
#pragma once

#include "aten/plans.h"

namespace dl::core {

// A number where the contract wants a pointer to a double.
class PadValue {
 public:
  explicit PadValue(const at::Scalar& value) : value_(value.toDouble()) {}
  const double* get() const { return &value_; }

 private:
  double value_;
};
inline PadValue pad_value(const at::Scalar& value) { return PadValue(value); }

namespace plans {

enum class PadKind { reflect, replicate };

bool padded(DirectPlan& plan, const Tensor& self, at::IntArrayRef padding, int64_t spatial,
            PadKind kind);
bool padded_with(DirectPlan& plan, const Tensor& self, at::IntArrayRef pad,
                 const at::Scalar& value);

}  // namespace plans
}  // namespace dl::core
