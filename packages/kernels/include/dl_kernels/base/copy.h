// Copies between tensors of any strides and dtypes. Defined in ops/copy.inc, once per library.
#ifndef DL_KERNELS_BASE_COPY_H_
#define DL_KERNELS_BASE_COPY_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// Copy `from`, broadcast to the shape of `to` and converted as by PyTorch's `copy_`.
diopiError_t copy_elements(diopiContextHandle_t ctx, const char* op, const TensorRef& to,
                           const TensorRef& from);

// Set every element of `to` to `value`.
diopiError_t fill_elements(diopiContextHandle_t ctx, const char* op, const TensorRef& to,
                           const diopiScalar_t& value);

// Store the bits of `value`, converted to a dtype, in host memory.
diopiError_t element_of(diopiDtype_t dtype, const diopiScalar_t& value, Bits128* element);

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_COPY_H_
