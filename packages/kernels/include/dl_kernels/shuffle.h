// A random permutation of an array. The seam where a vendor with a sort of its own orders random
// keys; on the CPU elements change places one after the other.
#ifndef DL_KERNELS_SHUFFLE_H_
#define DL_KERNELS_SHUFFLE_H_

#include "dl_kernels/config.h"

#if !DL_KERNELS_GPU
#include "dl_kernels/cpu/shuffle.h"
#endif

#endif  // DL_KERNELS_SHUFFLE_H_
