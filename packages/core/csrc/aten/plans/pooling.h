// Plans of adaptive pooling, and helper functions of window pooling.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// One entry per axis.
struct WindowValues {
  DimVector kernel, stride, padding, dilation;
};

namespace plans {

bool adaptive_pool(OutputPlan& plan, int64_t spatial, const Tensor& self,
                   at::IntArrayRef output_size, bool with_indices);
// `indices` is NULL for average pooling.
bool adaptive_pool_backward(OutputPlan& plan, int64_t spatial, const Tensor& grad_output,
                            const Tensor& self, const Tensor* indices);

// Expands a list of one value to one per axis; empty if the list has a different length.
DimVector per_axis(at::IntArrayRef values, at::IntArrayRef otherwise, int64_t spatial);
// Return true for (N, C, …) or (C, …) with no empty dimension except possibly the batch.
bool is_image(const Tensor& self, int64_t spatial);
// Considers the number of axes, because an unbatched volume looks like a batch of planes.
c10::MemoryFormat own_format(const Tensor& self, int64_t spatial);
// torch preserves the memory order of planes, and the order of volumes only for max pooling with
// windows.
c10::MemoryFormat format_of(const Tensor& self, int64_t spatial);
bool fits_indices(const Tensor& grad_output, const Tensor& indices);
bool input_gradient(OutputPlan& plan, const Tensor& self, c10::MemoryFormat format);

struct Windows : WindowValues {
  DimVector sizes;

  // Computes the output sizes; returns false if torch raises an error.
  bool fit(const Tensor& self, int64_t spatial, bool ceil_mode);
};

}  // namespace plans
}  // namespace dl::core
