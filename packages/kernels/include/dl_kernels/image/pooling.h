// Max and average pooling of planes, (N, C, …) or (C, …). Defined in ops/max_pooling.inc and
// ops/avg_pooling.inc, once per library.
#ifndef DL_KERNELS_IMAGE_POOLING_H_
#define DL_KERNELS_IMAGE_POOLING_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/image/planes.h"

DL_KERNELS_BEGIN

// Check the last `spatial` sizes of the output against a list with one entry for all or one for
// each; an empty list accepts any.
diopiError_t check_output_size(const char* op, int spatial, const TensorRef& out,
                               diopiSize_t output_size);

// Compute maxima and their positions in the planes; `indices` may be null.
diopiError_t max_pool(diopiContextHandle_t ctx, const char* op, int spatial, const TensorRef& out,
                      const TensorRef* indices, const TensorRef& input, const WindowLists& lists);

// Add gradients at the positions of the maxima; if `indices` is null, the positions are recomputed.
diopiError_t max_pool_backward(diopiContextHandle_t ctx, const char* op, int spatial,
                               const TensorRef& grad_input, const TensorRef& grad_output,
                               const TensorRef& input, const TensorRef* indices,
                               const WindowLists& lists);

// Divisor of a mean over a window.
struct MeanRule {
  bool adaptive, count_padding;
  int64_t divisor;  // 0: the number of elements
  DL_FN int64_t count(const Window& z, const Window& y, const Window& x) const {
    if (divisor != 0) return divisor;
    return count_padding ? z.padded * y.padded * x.padded
                         : (z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin);
  }
};

// Compute means with a divisor or, if that is 0, with the number of elements; with `backward`, `x`
// receives the gradient from `o`.
diopiError_t avg_pool(diopiContextHandle_t ctx, const char* op, int spatial, const TensorRef& o,
                      const TensorRef& x, const WindowLists& lists, bool count_padding,
                      int64_t divisor, bool backward);

DL_KERNELS_END

#endif  // DL_KERNELS_IMAGE_POOLING_H_
