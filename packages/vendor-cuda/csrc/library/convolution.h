// Convolutions and their gradients by cuDNN, if it is installed and supports them.
#ifndef DL_CUDA_LIBRARY_CONVOLUTION_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_H_

#include "dl/kit/convolution.h"

namespace dl::cuda {

using kit::Convolution;
using kit::Direction;
using kit::Images;

// Returns false if the library is missing, disabled, or does not support the call, which is
// determined once for equal convolutions. Throws kit::Error if it supports the convolution but
// fails to run it.
bool convolve_with_library(Convolution call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_H_
