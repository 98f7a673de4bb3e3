// Random permutations by the Fisher-Yates shuffle: element i is swapped with a random element from
// i on, drawn from the i-th 64 bits of the stream. Source: Durstenfeld, Random permutation (CACM
// 1964).
//
//   permute(launch, to, n, state)      writes a permutation of the numbers from 0 to n - 1
#ifndef DL_KERNELS_RANDOM_SHUFFLE_H_
#define DL_KERNELS_RANDOM_SHUFFLE_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/shuffle.h"
#else
#include "dl_kernels/cpu/shuffle.h"
#endif

#endif  // DL_KERNELS_RANDOM_SHUFFLE_H_
