// Passes over all elements of a ChannelShape, the building blocks of normalization with per-channel
// statistics. f(x..., c) handles an element of channel `c`, where x are its values in the arrays
// that f names: f.over(pass) returns pass(f, arrays...), with the arrays of parallel/elements.h.
//
//   channel_sums<C>(launch, shape, first, second, f)   first[c] and second[c] = sums of the pairs
//                                                      that f returns
//   each_in_channels(launch, shape, f)                 calls f, which writes some of the arrays
//
// The division of sums into pieces depends on the shape alone. On the CPU, shape.positions must be
// 1.
#ifndef DL_KERNELS_NORM_CHANNEL_PASSES_H_
#define DL_KERNELS_NORM_CHANNEL_PASSES_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/channel_passes.h"
#else
#include "dl_kernels/cpu/channel_passes.h"
#endif

#endif  // DL_KERNELS_NORM_CHANNEL_PASSES_H_
