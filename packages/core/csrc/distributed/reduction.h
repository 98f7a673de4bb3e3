// Reductions over gloo: supported dtypes and operations, and conversions for unsupported ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace dl::core::distributed {

// The vendor's reduction, and the dtype in which it interprets the elements. Empty if only gloo
// supports the reduction, or if it is invalid.
struct DeviceReduction {
  c10::ScalarType type;
  int32_t operation;
  // Elements of `type` per element of the tensor.
  int64_t multiple;
};
std::optional<DeviceReduction> device_reduction(c10::ScalarType type, const c10d::ReduceOp& op);

// Reduction of one host tensor.
class Reduction {
 public:
  // Throws for undefined reductions, such as the maximum of complex numbers. May modify `host`
  // before it is sent.
  Reduction(const at::Tensor& host, const c10d::ReduceOp& asked, const char* operation);

  // The tensor that gloo reduces, and the operation.
  at::Tensor& wire() { return wire_; }
  c10d::ReduceOp operation() const { return given_; }
  // Call after gloo: divides for averages, and copies the result to `host` unless `wire` is a view
  // of it.
  void finish(int ranks);

 private:
  at::Tensor host_;
  at::Tensor wire_;
  c10d::ReduceOp given_;
  bool average_;
  bool converted_ = false;
};

}  // namespace dl::core::distributed
