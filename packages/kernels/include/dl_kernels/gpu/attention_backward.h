// Gradients of attention on a GPU. Their kernels are compiled once for all families, in
// parts/attention_backward.inc.
#ifndef DL_KERNELS_GPU_ATTENTION_BACKWARD_H_
#define DL_KERNELS_GPU_ATTENTION_BACKWARD_H_

#include "dl_kernels/attention/attention_dropout.h"
#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

// `lse` is the log-sum-exp stored by the forward pass.
template <class T, class C = compute_t<T>>
void attention_backward(const Launch& launch, const AttentionShape& shape,
                        const Strided4<const T>& grad_out, const Strided4<const T>& q,
                        const Strided4<const T>& k, const Strided4<const T>& v,
                        const Strided4<const T>& out, const Strided4<const C>& lse,
                        const AttentionMask& mask, const AttentionDropout& dropout,
                        const Strided4<T>& grad_q, const Strided4<T>& grad_k,
                        const Strided4<T>& grad_v);

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_BACKWARD_H_
