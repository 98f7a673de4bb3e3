// GPU: batch normalization always runs in passes over all channels.
#ifndef DL_KERNELS_GPU_BATCH_NORM_H_
#define DL_KERNELS_GPU_BATCH_NORM_H_

#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/norm/batch_norm_terms.h"
#include "dl_kernels/norm/channels.h"

DL_KERNELS_BEGIN

template <class T, class C>
bool batch_norm_by_channel(const Launch&, T*, const T*, C*, C*, C*, bool, const BatchParameters<C>&,
                           const ChannelShape&) {
  return false;
}

template <class T, class C>
bool batch_norm_backward_by_channel(const Launch&, T*, const T*, const T*, const BatchGradient<C>&,
                                    const ChannelShape&) {
  return false;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_BATCH_NORM_H_
