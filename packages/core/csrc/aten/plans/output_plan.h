// Outputs of a non-elementwise operator: a plan function describes them, then they are allocated.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <initializer_list>

#include "contract/handle.h"

namespace dl::core {

using DimVector = c10::SmallVector<int64_t, 5>;
// The outputs of an out= form; empty for other forms.
using GivenOutputs = std::initializer_list<const at::Tensor*>;

class OutputPlan {
 public:
  // The functions below are called by plan functions, in the order of the outputs.
  void start(const at::Tensor& leading) { device_ = leading.get_device(); }
  void output(c10::IntArrayRef sizes, c10::ScalarType type,
              c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
    specs_.push_back({DimVector(sizes.begin(), sizes.end()), type, format, true});
  }
  // As output(), with the strides passed to keep_strides().
  void strided_output(c10::IntArrayRef sizes, c10::ScalarType type) {
    output(sizes, type);
    specs_.back().strided = true;
  }
  // Column-major matrices in the last two dimensions, as in torch's linear algebra.
  void column_major_output(c10::IntArrayRef sizes, c10::ScalarType type) {
    output(sizes, type);
    specs_.back().by_columns = true;
  }
  void keep_strides(c10::IntArrayRef strides) { strides_.assign(strides.begin(), strides.end()); }
  // An output that the caller did not request: NULL in the call, undefined in the result.
  void absent_output() {
    specs_.push_back({{}, c10::ScalarType::Undefined, c10::MemoryFormat::Contiguous, false});
  }

  // Allocates the outputs, or resizes the given ones; returns false if a given one has a different
  // dtype or device. Outputs beyond the given ones are temporary.
  bool make_outputs(GivenOutputs given);
  // Marks a vendor-allocated matrix as column-major in torch; the vendor may return it row-major.
  void take_by_columns() { taken_by_columns_ = true; }
  // Sets an output that the vendor has allocated.
  void set_output(at::Tensor made);

  int device() const { return device_; }
  const DimVector& sizes(size_t index) const { return specs_[index].sizes; }
  const at::Tensor& out(size_t index) const { return made_[index]; }
  at::Tensor take(size_t index) { return std::move(made_[index]); }

 private:
  struct Spec {
    DimVector sizes;
    c10::ScalarType type;
    c10::MemoryFormat format;
    bool wanted;
    bool strided = false;
    bool by_columns = false;
  };
  at::Tensor allocate(const Spec& spec) const;

  int device_ = -1;
  bool taken_by_columns_ = false;
  DimVector strides_;
  c10::SmallVector<Spec, 3> specs_;
  c10::SmallVector<at::Tensor, 3> made_;
};

}  // namespace dl::core
