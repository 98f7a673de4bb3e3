// A CPU tensor over the memory of a dl tensor, for a call from Python.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/utils/pybind.h>

namespace dl::core {

// Cached between calls, because redirecting the tensor is cheaper than allocating and freeing a
// tensor, its storage and its Python object. It does not own memory.
class HostAlias {
 public:
  // Returns the Python object. While it is referenced elsewhere, another call returns a new one.
  pybind11::object over(const at::Tensor& tensor, bool written);
  // Sets the size of a tensor from over() to 0, so that later accesses read nothing.
  static void detach(const at::Tensor& seen);

 private:
  bool is_free() const;

  at::Tensor tensor_;
  pybind11::object seen_;
  bool in_inference_ = false;
};

}  // namespace dl::core
