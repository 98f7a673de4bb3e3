/* The order in which a tensor's elements lie in memory.
 *
 * Strides say all of it, unless the vendor keeps the elements in an order of its own (blocked,
 * fractal): then DL_TENSOR_PRIVATE_FORMAT is set, and `private_format` has the vendor's code for
 * it. Sizes and strides are those that the tensor has for everybody else, and only `storage` and
 * `storage_bytes` say where the elements are. Such tensors go to operators of the vendor that made
 * them; one that does not know the code answers diopiNoImplement. */
#ifndef DL_FORMAT_H_
#define DL_FORMAT_H_

#include "dl/handles.h"

DL_EXTERN_C_BEGIN

/* 1 if the elements lie without gaps with dimension 1 innermost, then the last one to dimension 2,
 * then dimension 0. Dimensions of size 1 may have any stride. */
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

/* The vendor's code of a private format; 0 for tensors that have none. */
static inline uint64_t dl_tensor_private_format(const dl_tensor_prefix_t* tensor) {
  return (tensor->flags & DL_TENSOR_PRIVATE_FORMAT) != 0 ? tensor->private_format : 0;
}

/* Computed from the strides, when it is asked for. What is both is the earlier in the enum. Sparse
 * tensors are DL_FORMAT_STRIDED, and their parts have formats of their own. */
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
