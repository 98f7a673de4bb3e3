// Operators that are not elementwise: the outputs' description, and numbers worked out on the way.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <initializer_list>

#include "aten/handle.h"

namespace dl::core {

using DimVector = c10::SmallVector<int64_t, 5>;
// The outputs of an out= form, or none.
using GivenOutputs = std::initializer_list<const at::Tensor*>;

class DirectPlan {
 public:
  // Called by plan functions, in order of the outputs.
  void start(const at::Tensor& leading) { device_ = leading.get_device(); }
  void output(c10::IntArrayRef sizes, c10::ScalarType type,
              c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
    specs_.push_back({DimVector(sizes.begin(), sizes.end()), type, format, true});
  }
  // As output(), with the strides that keep_strides() was given.
  void strided_output(c10::IntArrayRef sizes, c10::ScalarType type) {
    output(sizes, type);
    specs_.back().strided = true;
  }
  void keep_strides(c10::IntArrayRef strides) { strides_.assign(strides.begin(), strides.end()); }
  // An output that the caller did not ask for: NULL in the call, undefined in the result.
  void absent_output() {
    specs_.push_back({{}, c10::ScalarType::Undefined, c10::MemoryFormat::Contiguous, false});
  }
  // A number normalised to [0, ndim), or a list, for the call.
  void set_dim(int64_t dim) {
    dim_ = dim;
    has_dim_ = true;
  }
  void add_list(c10::IntArrayRef values) {
    lists_[list_count_++] = DimVector(values.begin(), values.end());
  }
  void set_reduction(int64_t reduction) { reduction_ = static_cast<diopiReduction_t>(reduction); }

  // Allocates the outputs, or resizes the given ones; false when a given one has another dtype or
  // device.
  bool make_outputs(GivenOutputs given);
  void set_output(at::Tensor made) { made_.push_back(std::move(made)); }

  int device() const { return device_; }
  const at::Tensor& out(size_t index) const { return made_[index]; }
  at::Tensor take(size_t index) { return std::move(made_[index]); }
  int64_t dim() const { return dim_; }
  const int64_t* optional_dim() const { return has_dim_ ? &dim_ : nullptr; }
  diopiReduction_t reduction() const { return reduction_; }
  diopiSize_t list(size_t index) const {
    return {lists_[index].data(), static_cast<int64_t>(lists_[index].size())};
  }
  // NULL when the list was not given.
  diopiSize_t* optional_list(size_t index) {
    if (index >= list_count_) return nullptr;
    optional_ = list(index);
    return &optional_;
  }

 private:
  struct Spec {
    DimVector sizes;
    c10::ScalarType type;
    c10::MemoryFormat format;
    bool wanted;
    bool strided = false;
  };

  int device_ = -1;
  int64_t dim_ = 0;
  bool has_dim_ = false;
  diopiReduction_t reduction_ = ReductionNone;
  size_t list_count_ = 0;
  std::array<DimVector, 4> lists_;
  diopiSize_t optional_{};
  DimVector strides_;
  c10::SmallVector<Spec, 3> specs_;
  c10::SmallVector<at::Tensor, 3> made_;
};

}  // namespace dl::core
