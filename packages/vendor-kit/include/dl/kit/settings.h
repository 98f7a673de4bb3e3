// Settings of the user that an operator reads on each call.
#ifndef DL_KIT_SETTINGS_H_
#define DL_KIT_SETTINGS_H_

#include "dl/context.h"
#include "dl/kit/base.h"

DL_KIT_BEGIN

// True if the factors of float32 matrix products may be rounded to TF32 or a similar format with 11
// significant bits: torch.set_float32_matmul_precision, torch.backends.cuda.matmul.
inline bool allows_tf32_products(diopiContextHandle_t ctx) {
  return dl_context_matmul_precision(ctx) == DL_MATMUL_TF32;
}

// The same for convolutions and their gradients: torch.backends.cudnn.allow_tf32, which is True by
// default.
inline bool allows_tf32_convolutions(diopiContextHandle_t ctx) {
  return dl_context_convolution_precision(ctx) == DL_MATMUL_TF32;
}

// True if the user requests deterministic algorithms: torch.use_deterministic_algorithms.
inline bool wants_determinism(diopiContextHandle_t ctx) { return dl_context_deterministic(ctx); }

DL_KIT_END

#endif  // DL_KIT_SETTINGS_H_
