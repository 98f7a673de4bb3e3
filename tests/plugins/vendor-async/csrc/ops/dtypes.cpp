#include "ops/dtypes.h"

#include <initializer_list>

namespace dl::async_test {

bool is_computed(int32_t dtype) { return is_floating(dtype) || dtype == diopi_dtype_int64; }

bool is_floating(int32_t dtype) {
  return dtype == diopi_dtype_float32 || dtype == diopi_dtype_float64;
}

bool is_numeric(int32_t dtype) {
  return dtype >= 0 && dtype < 64 && ((numeric_dtype_mask() >> dtype) & 1) != 0;
}

uint64_t numeric_dtype_mask() {
  uint64_t mask = 0;
  for (int32_t dtype :
       {diopi_dtype_bool, diopi_dtype_uint8, diopi_dtype_int8, diopi_dtype_int16, diopi_dtype_int32,
        diopi_dtype_int64, diopi_dtype_float32, diopi_dtype_float64}) {
    mask |= uint64_t{1} << dtype;
  }
  return mask;
}

}  // namespace dl::async_test
