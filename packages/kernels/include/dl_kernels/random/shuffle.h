// A random permutation: that of elements which change places one after the other, element i with
// one of those from i on, drawn by the i-th 64 bits of the stream.
// Source: Durstenfeld, Random permutation (CACM 1964).
//
//   permute(launch, to, n, state)      writes the numbers from 0 to n - 1 in the order
#ifndef DL_KERNELS_RANDOM_SHUFFLE_H_
#define DL_KERNELS_RANDOM_SHUFFLE_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/shuffle.h"
#else
#include "dl_kernels/cpu/shuffle.h"
#endif

#endif  // DL_KERNELS_RANDOM_SHUFFLE_H_
