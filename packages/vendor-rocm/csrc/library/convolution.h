// Convolutions and their gradients by MIOpen, if it is installed and supports them.
#ifndef DL_ROCM_LIBRARY_CONVOLUTION_H_
#define DL_ROCM_LIBRARY_CONVOLUTION_H_

#include "dl/kit/convolution.h"

namespace dl::rocm {

// Returns true if the library is installed and not disabled.
bool has_convolution_library();

// Overwrites the result. Returns false if the library is missing or does not support the call,
// which is determined once for equal convolutions: all tensors must be dense and have the same
// layout. Throws kit::Error if it supports the convolution but fails to run it.
bool convolve_with_library(kit::Convolution call);

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_CONVOLUTION_H_
