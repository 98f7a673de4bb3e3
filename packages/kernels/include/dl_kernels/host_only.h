// Included by operators whose bodies run on the host alone: a GPU vendor leaves their family out.
#ifndef DL_KERNELS_HOST_ONLY_H_
#define DL_KERNELS_HOST_ONLY_H_

#include "dl_kernels/config.h"

#if DL_KERNELS_GPU
#error "this family of operators is written for the host's memory; a GPU needs kernels of its own"
#endif

#endif  // DL_KERNELS_HOST_ONLY_H_
