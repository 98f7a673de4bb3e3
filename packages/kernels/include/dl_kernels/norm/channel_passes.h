// Passes over all elements of a ChannelShape, which normalisations with statistics of whole
// channels are made of. f(index, c) is about the element at `index` in memory, of channel `c`.
//
//   channel_sums<C>(launch, shape, first, second, f)   first[c] and second[c] become the sums of
//                                                      the pairs that f returns
//   each_in_channels(launch, shape, f)                 calls f
//
// Sums are cut at places that depend on the shape alone. On the CPU, shape.positions must be 1.
#ifndef DL_KERNELS_NORM_CHANNEL_PASSES_H_
#define DL_KERNELS_NORM_CHANNEL_PASSES_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/channel_passes.h"
#else
#include "dl_kernels/cpu/channel_passes.h"
#endif

#endif  // DL_KERNELS_NORM_CHANNEL_PASSES_H_
