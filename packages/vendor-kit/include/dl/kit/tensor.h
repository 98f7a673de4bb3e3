// Helpers for operator arguments: the tensor behind a handle, its extent in memory, broadcast
// strides, and scalar values.
#ifndef DL_KIT_TENSOR_H_
#define DL_KIT_TENSOR_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "diopi/diopirt.h"
#include "dl/handles.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// Throws Error for a handle that is not a tensor.
inline const dl_tensor_prefix_t& tensor_of(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t* tensor = diopirt_tensor(handle);
  if (tensor == nullptr) throw Error(DL_INVALID_ARGUMENT, "a handle is not a tensor");
  return *tensor;
}

// Bytes from the first byte of the first element to the last byte of the last one; 0 without
// elements.
inline uint64_t reach(const dl_tensor_prefix_t& tensor, uint64_t element_bytes) {
  if (tensor.numel == 0) return 0;
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.ndim; ++d) last += (tensor.sizes[d] - 1) * tensor.strides[d];
  return static_cast<uint64_t>(last + 1) * element_bytes;
}

// The strides, in elements, of a tensor broadcast to another shape: 0 in expanded dimensions.
// Throws Error with DL_NOT_SUPPORTED if the shapes are not broadcastable.
inline void broadcast_strides(const dl_tensor_prefix_t& tensor, const int64_t* sizes, int64_t ndim,
                              int64_t* strides) {
  std::fill_n(strides, ndim, 0);
  for (int64_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.sizes[i] == 1) continue;
    const int64_t d = ndim - tensor.ndim + i;
    if (d < 0 || tensor.sizes[i] != sizes[d])
      throw Error(DL_NOT_SUPPORTED, "size " + std::to_string(tensor.sizes[i]) + " of dimension " +
                                        std::to_string(i) +
                                        " does not broadcast to the output's shape");
    strides[d] = tensor.strides[i];
  }
}

// Converts a scalar to another type. Throws Error for NULL.
template <class T>
T number_of(const diopiScalar_t* scalar) {
  if (scalar == nullptr) throw Error(DL_INVALID_ARGUMENT, "a scalar is NULL");
  switch (scalar->stype) {
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
    case diopi_dtype_tfloat32:
    case diopi_dtype_float32:
    case diopi_dtype_float64:
      return static_cast<T>(scalar->fval);
    default:
      return static_cast<T>(scalar->ival);
  }
}

DL_KIT_END

#endif  // DL_KIT_TENSOR_H_
