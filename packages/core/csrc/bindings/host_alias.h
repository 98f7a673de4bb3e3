// A CPU tensor over the memory of a dl tensor, for a call from Python.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/utils/pybind.h>

namespace dl::core {

// Kept between calls: making and freeing a tensor, its storage and what Python holds of them costs
// more than to point it elsewhere. It owns nothing.
class HostAlias {
 public:
  // What Python sees. As long as anybody holds it, another call gets another one.
  pybind11::object over(const at::Tensor& tensor, bool written);
  // Leaves such a tensor without elements: whoever finds it later reads nothing.
  static void detach(const at::Tensor& seen);

 private:
  bool is_free() const;

  at::Tensor tensor_;
  pybind11::object seen_;
  bool in_inference_ = false;
};

}  // namespace dl::core
