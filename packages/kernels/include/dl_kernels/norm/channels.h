// Tensors of shape (N, C) or (N, C, …) for normalization: channels, each with the positions of
// every sample.
#ifndef DL_KERNELS_NORM_CHANNELS_H_
#define DL_KERNELS_NORM_CHANNELS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

struct ChannelShape {
  int64_t samples, channels, positions;
  DL_FN int64_t count() const { return samples * positions; }
};

inline diopiError_t channel_shape(const char* op, const TensorRef& input, ChannelShape* shape) {
  if (input.ndim < 2) {
    return fail(op, "the input has %lld dimensions; it needs samples and channels",
                (long long)input.ndim);
  }
  *shape = {input.sizes[0], input.sizes[1], 1};
  for (int64_t d = 2; d < input.ndim; ++d) shape->positions *= input.sizes[d];
  return diopiSuccess;
}

inline diopiError_t check_channels(const char* op, const char* what,
                                   diopiConstTensorHandle_t tensor, int64_t channels) {
  if (tensor == nullptr || ref(tensor).numel == channels) return diopiSuccess;
  return fail(op, "%s has %lld elements; the input has %lld channels", what,
              (long long)ref(tensor).numel, (long long)channels);
}

// Return true if the tensor is channels-last without gaps: every position is then treated as a
// sample.
inline bool channels_last(const TensorRef& tensor) {
  if (tensor.contiguous || tensor.ndim < 3) return false;
  int64_t next = tensor.sizes[1];
  if (tensor.sizes[1] != 1 && tensor.strides[1] != 1) return false;
  for (int64_t d = tensor.ndim - 1; d >= 0; --d) {
    if (d == 1) continue;
    if (tensor.sizes[d] != 1 && tensor.strides[d] != next) return false;
    next *= tensor.sizes[d];
  }
  return true;
}

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_CHANNELS_H_
