// Macros that define unary operators from a functor: name(ctx, out, input), and name_inp(ctx,
// input) for the in-place form; complex tensors use a ComplexFunction.
#ifndef DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_
#define DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_

#include "dl_kernels/elementwise/complex_elements.h"
#include "dl_kernels/elementwise/pointwise.h"
#include "dl_kernels/layout/view.h"

DL_KERNELS_BEGIN

template <uint32_t Mask, template <class> class Op>
diopiError_t real_or_complex(diopiContextHandle_t ctx, const char* op, diopiTensorHandle_t out,
                             diopiConstTensorHandle_t input, ComplexFunction which) {
  const TensorRef x = ref(input);
  if (is_complex(x.dtype)) return complex_function(ctx, op, ref(out), x, which);
  return unary<Mask>(ctx, op, out, input, plain<Op>);
}

DL_KERNELS_END

#define DL_UNARY(name, Op, mask)                                       \
  diopiError_t name(diopiContextHandle_t ctx, diopiTensorHandle_t out, \
                    diopiConstTensorHandle_t input) {                  \
    return unary<mask>(ctx, #name, out, input, plain<Op>);             \
  }
#define DL_UNARY_AND_INP(name, name_inp, Op, mask)                             \
  DL_UNARY(name, Op, mask)                                                     \
  diopiError_t name_inp(diopiContextHandle_t ctx, diopiTensorHandle_t input) { \
    return unary<mask>(ctx, #name_inp, input, input, plain<Op>);               \
  }
#define DL_UNARY_AND_INP_OF_COMPLEX(name, name_inp, Op, which, mask)           \
  diopiError_t name(diopiContextHandle_t ctx, diopiTensorHandle_t out,         \
                    diopiConstTensorHandle_t input) {                          \
    return real_or_complex<mask, Op>(ctx, #name, out, input, which);           \
  }                                                                            \
  diopiError_t name_inp(diopiContextHandle_t ctx, diopiTensorHandle_t input) { \
    return real_or_complex<mask, Op>(ctx, #name_inp, input, input, which);     \
  }

#endif  // DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_
