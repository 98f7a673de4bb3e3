// Reductions over gloo: the dtypes and operations that it has, and the way to the others.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace dl::core::distributed {

// The vendor's reduction, and the dtype as which the elements are reduced: they are viewed so. None
// where only gloo can, or nobody.
struct DeviceReduction {
  c10::ScalarType type;
  int32_t operation;
  // Elements of `type` for each of the tensor.
  int64_t multiple;
};
std::optional<DeviceReduction> device_reduction(c10::ScalarType type, const c10d::ReduceOp& op);

// How one host tensor is reduced.
class Reduction {
 public:
  // Throws for what has no meaning, such as the maximum of complex numbers. `host` may be changed
  // before it is sent.
  Reduction(const at::Tensor& host, const c10d::ReduceOp& asked, const char* operation);

  // What gloo is given, and the operation to ask it for.
  at::Tensor& wire() { return wire_; }
  c10d::ReduceOp operation() const { return given_; }
  // After gloo: averages, and gives `host` the result where `wire` is no view of it.
  void finish(int ranks);

 private:
  at::Tensor host_;
  at::Tensor wire_;
  c10d::ReduceOp given_;
  bool average_;
  bool converted_ = false;
};

}  // namespace dl::core::distributed
