// Convolutions and their gradients by cuDNN, where it is installed and takes them.
#ifndef DL_CUDA_LIBRARY_CONVOLUTION_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_H_

#include "dl/kit/convolution.h"

namespace dl::cuda {

using kit::Convolution;
using kit::Direction;
using kit::Images;

// False: the library is not there, is switched off, or does not take it, which is found out once
// for convolutions that are alike. Throws kit::Error where it takes a convolution and fails to run
// it.
bool convolve_by_library(Convolution call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_H_
