// Defines contract operators that are functions of one tensor: diopiName(ctx, out, input) and, in
// place, diopiNameInp(ctx, input), from the functor NameOp.
#ifndef DL_KERNELS_UNARY_OPERATORS_H_
#define DL_KERNELS_UNARY_OPERATORS_H_

#include "dl_kernels/pointwise.h"

#define DL_UNARY(Name, mask)                                                  \
  diopiError_t diopi##Name(diopiContextHandle_t ctx, diopiTensorHandle_t out, \
                           diopiConstTensorHandle_t input) {                  \
    return unary<mask>(ctx, "diopi" #Name, out, input, plain<Name##Op>);      \
  }
#define DL_UNARY_INP(Name, mask)                                                       \
  diopiError_t diopi##Name##Inp(diopiContextHandle_t ctx, diopiTensorHandle_t input) { \
    return unary<mask>(ctx, "diopi" #Name "Inp", input, input, plain<Name##Op>);       \
  }
#define DL_UNARY_BOTH(Name, mask) DL_UNARY(Name, mask) DL_UNARY_INP(Name, mask)

#endif  // DL_KERNELS_UNARY_OPERATORS_H_
