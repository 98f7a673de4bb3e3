// Plans of adaptive pooling, and what those of windows share.
#pragma once

#include "aten/plans/plan.h"

namespace dl::core {

// One entry for each axis.
struct WindowValues {
  DimVector kernel, stride, padding, dilation;
};

namespace plans {

bool adaptive_pool(OutputPlan& plan, int64_t spatial, const Tensor& self,
                   at::IntArrayRef output_size, bool with_indices);
// `indices` is NULL for means.
bool adaptive_pool_backward(OutputPlan& plan, int64_t spatial, const Tensor& grad_output,
                            const Tensor& self, const Tensor* indices);

// One entry for each axis, from a list of one or as many; empty where it has another length.
DimVector per_axis(at::IntArrayRef values, at::IntArrayRef otherwise, int64_t spatial);
// (N, C, …) or (C, …) with elements in every dimension but the batch.
bool is_image(const Tensor& self, int64_t spatial);
// Without a batch, four dimensions would be taken for a batch of planes.
c10::MemoryFormat own_format(const Tensor& self, int64_t spatial);
// torch keeps the order of planes, and that of volumes only for maxima of given windows.
c10::MemoryFormat format_of(const Tensor& self, int64_t spatial);
bool fits_indices(const Tensor& grad_output, const Tensor& indices);
bool input_gradient(OutputPlan& plan, const Tensor& self, c10::MemoryFormat format);

struct Windows : WindowValues {
  DimVector sizes;

  // Works out the sizes of the output; false where torch would object.
  bool fit(const Tensor& self, int64_t spatial, bool ceil_mode);
};

}  // namespace plans
}  // namespace dl::core
