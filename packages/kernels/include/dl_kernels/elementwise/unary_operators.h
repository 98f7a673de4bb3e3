// Defines operators that are functions of one tensor: name(ctx, out, input), and name_inp(ctx,
// input) for the form that works in place, from a functor.
#ifndef DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_
#define DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_

#include "dl_kernels/elementwise/pointwise.h"

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

#endif  // DL_KERNELS_ELEMENTWISE_UNARY_OPERATORS_H_
