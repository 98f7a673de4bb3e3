// Attention on a GPU, without storing the score matrix. Its kernels are compiled once for all
// families, in parts/attention.inc.
#ifndef DL_KERNELS_GPU_ATTENTION_H_
#define DL_KERNELS_GPU_ATTENTION_H_

#include "dl_kernels/attention/attention_dropout.h"
#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/gpu/launch.h"

DL_KERNELS_BEGIN

// `lse` receives the log-sum-exp of each query's scores. A query without visible keys gets zeros.
// Dropped weights count in the normalizer.
template <class T, class C = compute_t<T>>
void attention(const Launch& launch, const AttentionShape& shape, const Strided4<const T>& q,
               const Strided4<const T>& k, const Strided4<const T>& v, const AttentionMask& mask,
               const AttentionDropout& dropout, const Strided4<T>& out, const Strided4<C>& lse);

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_ATTENTION_H_
