/* The header that a vendor in C includes, and the macro for entries of its operator array:
 *
 *   diopiError_t diopiRelu(diopiContextHandle_t ctx, ...) { ... }
 *   static const dl_operator_t kOperators[] = {DL_C_OPERATOR(diopiRelu)};
 *
 * The functions have the names that the headers declare, so that the compiler checks their types;
 * they stay hidden in the library. dl/operator.hpp is the C++ counterpart. */
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

/* Initializer of a dl_operator_t. Compilers accept a cast between function types without a warning
 * only through void(*)(void). */
#define DL_C_OPERATOR(op) {#op, DIOPI_FINGERPRINT_##op, (dl_function_t)(void (*)(void))op, 0}

#endif
