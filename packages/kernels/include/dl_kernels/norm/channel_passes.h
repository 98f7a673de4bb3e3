// Passes over all elements of a ChannelShape, which normalisations with statistics of whole
// channels are made of. f(x..., c) is about an element of channel `c`, which is x in each of the
// arrays that f names: f.over(pass) returns pass(f, arrays...), with parallel/elements.h's arrays.
//
//   channel_sums<C>(launch, shape, first, second, f)   first[c] and second[c] become the sums of
//                                                      the pairs that f returns
//   each_in_channels(launch, shape, f)                 calls f, which writes some of the arrays
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
