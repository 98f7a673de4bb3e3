// The first item with a property, returned to the host, which waits for the device, of the backend:
//
//   first_where(launch, count, f)   the smallest i in [0, count) with f(i); `count` where there is
//                                   none. `f` is a functor without references.
#ifndef DL_KERNELS_PARALLEL_SEARCH_H_
#define DL_KERNELS_PARALLEL_SEARCH_H_

#include "dl_kernels/base/config.h"

#if DL_KERNELS_GPU
#include "dl_kernels/gpu/search.h"
#else
#include "dl_kernels/cpu/search.h"
#endif

#endif  // DL_KERNELS_PARALLEL_SEARCH_H_
