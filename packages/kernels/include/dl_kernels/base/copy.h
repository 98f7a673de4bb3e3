// Copying between tensors of any strides and dtypes. Defined in ops/copy.inc, once for a library.
#ifndef DL_KERNELS_BASE_COPY_H_
#define DL_KERNELS_BASE_COPY_H_

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

// `from` is broadcast to `to` and converted as PyTorch's `copy_` does.
diopiError_t copy_elements(diopiContextHandle_t ctx, const char* op, const TensorRef& to,
                           const TensorRef& from);

// Every element of `to` becomes `value`.
diopiError_t fill_elements(diopiContextHandle_t ctx, const char* op, const TensorRef& to,
                           const diopiScalar_t& value);

// The bits of `value` in a dtype, in the host's memory.
diopiError_t element_of(diopiDtype_t dtype, const diopiScalar_t& value, Bits128* element);

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_COPY_H_
