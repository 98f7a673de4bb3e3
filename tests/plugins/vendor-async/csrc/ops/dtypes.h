#ifndef DL_ASYNC_TEST_OPS_DTYPES_H_
#define DL_ASYNC_TEST_OPS_DTYPES_H_

#include <cstdint>

#include "diopi/types.gen.h"

namespace dl::async_test {

/** Dtypes of arithmetic results: float32, float64, int64. */
bool is_computed(int32_t dtype);
bool is_floating(int32_t dtype);
/** Dtypes that operators read and convert: the above, bool, the signed integers and uint8. */
bool is_numeric(int32_t dtype);
/** The numeric dtypes, one bit each. */
uint64_t numeric_dtype_mask();

}  // namespace dl::async_test

#endif
