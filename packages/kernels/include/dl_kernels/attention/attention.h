// Scaled dot-product attention: `attention` and `attention_backward` on dense problems.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_H_
#define DL_KERNELS_ATTENTION_ATTENTION_H_

#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/attention.h"
#include "dl_kernels/gpu/attention_backward.h"
#else
#include "dl_kernels/cpu/attention.h"
#include "dl_kernels/cpu/attention_backward.h"
#endif

#endif  // DL_KERNELS_ATTENTION_ATTENTION_H_
