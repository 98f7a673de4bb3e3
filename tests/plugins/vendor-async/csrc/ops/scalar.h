#ifndef DL_ASYNC_TEST_OPS_SCALAR_H_
#define DL_ASYNC_TEST_OPS_SCALAR_H_

#include <cstdint>

#include "diopi/types.gen.h"
#include "error.h"
#include "ops/tensor_view.h"

namespace dl::async_test {

/** A copy of the host's scalar, which is destroyed when the operator returns. */
class Scalar {
 public:
  explicit Scalar(const diopiScalar_t* scalar) {
    if (scalar == nullptr) throw Error(DL_INVALID_ARGUMENT, "a scalar is NULL");
    value_ = *scalar;
  }

  bool floating() const {
    switch (value_.stype) {
      case diopi_dtype_float16:
      case diopi_dtype_bfloat16:
      case diopi_dtype_tfloat32:
      case diopi_dtype_float32:
      case diopi_dtype_float64:
        return true;
      default:
        return false;
    }
  }

  template <typename T>
  T as() const {
    return floating() ? convert<T>(value_.fval) : convert<T>(value_.ival);
  }

 private:
  diopiScalar_t value_;
};

}  // namespace dl::async_test

#endif
