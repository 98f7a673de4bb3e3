/* Element size of a dtype. */
#ifndef DL_DTYPE_H_
#define DL_DTYPE_H_

#include "diopi/types.gen.h"
#include "dl/base.h"

DL_EXTERN_C_BEGIN

/* Bytes per element of a diopiDtype_t; 0 for an unknown dtype. */
static inline int64_t dl_dtype_bytes(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_int8:
    case diopi_dtype_uint8:
    case diopi_dtype_bool:
      return 1;
    case diopi_dtype_int16:
    case diopi_dtype_uint16:
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
      return 2;
    case diopi_dtype_int32:
    case diopi_dtype_uint32:
    case diopi_dtype_float32:
    case diopi_dtype_tfloat32:
    case diopi_dtype_complex32:
      return 4;
    case diopi_dtype_int64:
    case diopi_dtype_uint64:
    case diopi_dtype_float64:
    case diopi_dtype_complex64:
      return 8;
    case diopi_dtype_complex128:
      return 16;
    default:
      return 0;
  }
}

DL_EXTERN_C_END
#endif
