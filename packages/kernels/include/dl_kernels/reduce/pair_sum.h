// Two sums over the same elements in one pass, in the backend's implementation:
//
//   pair_sum(launch, count, f, to)   *to = the sum of the pairs f(0) … f(count - 1), in the memory
//                                    of the device. `f` is a functor without references; it is
//                                    called once per item.
#ifndef DL_KERNELS_REDUCE_PAIR_SUM_H_
#define DL_KERNELS_REDUCE_PAIR_SUM_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/pair_sum.h"
#else
#include "dl_kernels/cpu/pair_sum.h"
#endif

#endif  // DL_KERNELS_REDUCE_PAIR_SUM_H_
