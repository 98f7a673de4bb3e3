/* Memory formats: the order of a tensor's elements in memory.
 *
 * Strides determine the order, unless the vendor stores the elements in a format of its own
 * (blocked, fractal). Then DL_TENSOR_PRIVATE_FORMAT is set, `private_format` is the vendor's code
 * of the format, sizes and strides are those of the logical tensor, and only `storage` and
 * `storage_bytes` describe where the elements are. Such tensors are passed only to operators of the
 * vendor that created them; an operator that does not know the code returns diopiNoImplement. */
#ifndef DL_FORMAT_H_
#define DL_FORMAT_H_

#include "dl/handles.h"

DL_EXTERN_C_BEGIN

/* 1 if the tensor is dense in channels-last order: dimension 1 is innermost, then the last
 * dimension to dimension 2, then dimension 0. Dimensions of size 1 may have any stride. */
static inline int32_t dl_tensor_channels_innermost(const dl_tensor_prefix_t* tensor) {
  int64_t expected = 1;
  int64_t step;
  for (step = 0; step < tensor->ndim; ++step) {
    const int64_t dim = step == 0 ? 1 : step == tensor->ndim - 1 ? 0 : tensor->ndim - step;
    if (tensor->sizes[dim] != 1 && tensor->strides[dim] != expected) return 0;
    expected *= tensor->sizes[dim];
  }
  return 1;
}

/* The vendor's code of a private format; 0 for tensors without one. */
static inline uint64_t dl_tensor_private_format(const dl_tensor_prefix_t* tensor) {
  return (tensor->flags & DL_TENSOR_PRIVATE_FORMAT) != 0 ? tensor->private_format : 0;
}

/* The memory format, computed from the strides on each call. If several formats apply, the earlier
 * one of the enum is returned. Sparse tensors are DL_FORMAT_STRIDED; their parts have their own
 * formats. */
static inline dl_format_t dl_tensor_format(const dl_tensor_prefix_t* tensor) {
  if ((tensor->flags & DL_TENSOR_PRIVATE_FORMAT) != 0) return DL_FORMAT_PRIVATE;
  if ((tensor->flags & DL_TENSOR_SPARSE_CSR) != 0) return DL_FORMAT_STRIDED;
  if ((tensor->flags & DL_TENSOR_CONTIGUOUS) != 0) return DL_FORMAT_CONTIGUOUS;
  if (tensor->ndim == 4 && dl_tensor_channels_innermost(tensor)) return DL_FORMAT_CHANNELS_LAST;
  if (tensor->ndim == 5 && dl_tensor_channels_innermost(tensor)) return DL_FORMAT_CHANNELS_LAST_3D;
  return DL_FORMAT_STRIDED;
}

DL_EXTERN_C_END
#endif
