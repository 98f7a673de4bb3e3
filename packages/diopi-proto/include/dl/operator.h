/* The header that a vendor in C includes, and the macro for entries of its operator array:
 *
 *   diopiError_t diopiRelu(diopiContextHandle_t ctx, ...) { ... }
 *   static const dl_operator_t kOperators[] = {DL_C_OPERATOR(diopiRelu)};
 *
 * The functions have the names that the headers declare, so that the compiler checks their types;
 * they stay hidden in the library. Functions of other names are entered with DL_C_OPERATOR_BY.
 * dl/operator.hpp is the C++ counterpart. */
#ifndef DL_OPERATOR_H_
#define DL_OPERATOR_H_

#include "diopi/diopirt.h"
#include "diopi/fingerprints.gen.h"
#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "diopi/functions_lmdeploy.h"
#include "diopi/functions_mmcv.h"
#include "diopi/functions_sparse.h"
#include "dl/context.h"
#include "dl/vendor.h"

/* Has a member only if `function` has the type of `op`; 0 times its size is a constant 0. */
#define DL_C_OPERATOR_TYPE_CHECK(function, op)                                          \
  (0 * sizeof(struct {                                                                  \
     _Static_assert(__builtin_types_compatible_p(__typeof__(function), __typeof__(op)), \
                    "[" #op "] " #function                                              \
                    " does not have the type that its header in diopi/ declares");      \
     int checked;                                                                       \
   }))

/* Initializer of a dl_operator_t. Compilers accept a cast between function types without a warning
 * only through void(*)(void). */
#define DL_C_OPERATOR(op) {#op, DIOPI_FINGERPRINT_##op, (dl_function_t)(void (*)(void))op, 0}

/* As DL_C_OPERATOR for a function of another name, whose type is checked here. */
#define DL_C_OPERATOR_BY(function, op)                                   \
  {#op, DIOPI_FINGERPRINT_##op, (dl_function_t)(void (*)(void))function, \
   DL_C_OPERATOR_TYPE_CHECK(function, op)}

#endif
