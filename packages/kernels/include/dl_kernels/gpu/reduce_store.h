// Storing a reduction's results in any dtype.
#ifndef DL_KERNELS_GPU_REDUCE_STORE_H_
#define DL_KERNELS_GPU_REDUCE_STORE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

namespace gpu {

// Shared by all kernels of an accumulate type: it is called only once per result.
template <class Acc>
DL_COLD_FN void store_as(void* data, diopiDtype_t dtype, int64_t offset, Acc value) {
  switch (dtype) {
#define DL_STORE_CASE(value_dtype, O)               \
  case value_dtype:                                 \
    static_cast<O*>(data)[offset] = cast<O>(value); \
    break;
    DL_STORE_CASE(diopi_dtype_float32, float)
    DL_STORE_CASE(diopi_dtype_float64, double)
    DL_STORE_CASE(diopi_dtype_float16, Half)
    DL_STORE_CASE(diopi_dtype_bfloat16, BFloat16)
    DL_STORE_CASE(diopi_dtype_int8, int8_t)
    DL_STORE_CASE(diopi_dtype_uint8, uint8_t)
    DL_STORE_CASE(diopi_dtype_int16, int16_t)
    DL_STORE_CASE(diopi_dtype_int32, int32_t)
    DL_STORE_CASE(diopi_dtype_int64, int64_t)
    DL_STORE_CASE(diopi_dtype_bool, Bool)
#undef DL_STORE_CASE
    default:
      break;
  }
}

}  // namespace gpu

template <class Acc>
struct Store {
  void* data;
  diopiDtype_t dtype;

  template <class O>
  void set() {
    dtype = dtype_of<O>();
  }

  DL_FN void operator()(int64_t offset, Acc value) const {
    gpu::store_as(data, dtype, offset, value);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_REDUCE_STORE_H_
