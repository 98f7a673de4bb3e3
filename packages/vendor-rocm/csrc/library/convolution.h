// Convolutions and their gradients by MIOpen, where it is installed and takes them.
#ifndef DL_ROCM_LIBRARY_CONVOLUTION_H_
#define DL_ROCM_LIBRARY_CONVOLUTION_H_

#include "dl/kit/convolution.h"

namespace dl::rocm {

// Whether the library is there, and not switched off.
bool convolves_by_library();

// The result replaces what is there. False: the library is not there, or does not take it, which is
// found out once for convolutions that are alike: all tensors have to lie densely in one order.
// Throws kit::Error where it takes a convolution and fails to run it.
bool convolve_by_library(kit::Convolution call);

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_CONVOLUTION_H_
