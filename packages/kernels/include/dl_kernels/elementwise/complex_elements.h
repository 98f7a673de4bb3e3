// Elementwise functions of complex tensors. Defined in ops/complex.inc, once per library: the
// function is a runtime argument, not a template parameter, because a branch is negligible compared
// with the computation. Tensors that are not complex, or have different dtypes, are declined.
#ifndef DL_KERNELS_ELEMENTWISE_COMPLEX_ELEMENTS_H_
#define DL_KERNELS_ELEMENTWISE_COMPLEX_ELEMENTS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/elementwise/pointwise.h"
#include "dl_kernels/math/complex_functions.h"

DL_KERNELS_BEGIN

enum class ComplexPairFunction : int32_t {
  kQuotient,
  kPower,
  kTanhBackward,
  kSigmoidBackward,
};
enum class ComplexTripleFunction : int32_t {
  kAddcmul,
  kAddcdiv,
  kLerp,
};

diopiError_t complex_function(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                              const TensorRef& input, ComplexFunction which);
diopiError_t complex_function(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                              const TensorRef& a, const TensorRef& b, ComplexPairFunction which);

// `value` is the factor of kAddcmul and kAddcdiv.
diopiError_t complex_function(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                              const TensorRef& a, const TensorRef& b, const TensorRef& c,
                              ComplexTripleFunction which, double value = 1);

// Compute absolute values; `out` has the dtype of the real and imaginary parts.
diopiError_t complex_size(diopiContextHandle_t ctx, const char* op, const TensorRef& out,
                          const TensorRef& input);

// A scalar as a 0-dimensional complex tensor, for use as an operand of such a function.
class ComplexScalar {
 public:
  ComplexScalar(const diopiScalar_t& value, diopiDtype_t dtype)
      : of_double_{scalar_to<double>(value), 0.0},
        of_float_(cast<Complex<float>>(of_double_)),
        dtype_(dtype) {}
  TensorRef tensor() {
    TensorRef scalar = dtype_ == diopi_dtype_complex64 ? single(&of_float_) : single(&of_double_);
    scalar.dtype = dtype_;
    return scalar;
  }

 private:
  Complex<double> of_double_;
  Complex<float> of_float_;
  diopiDtype_t dtype_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_ELEMENTWISE_COMPLEX_ELEMENTS_H_
