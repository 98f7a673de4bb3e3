#ifndef DL_CUDA_LIBRARY_CONVOLUTION_LAYOUT_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_LAYOUT_H_

#include "library/convolution.h"

namespace dl::cuda {

// Gives dimensions of size 1 the strides of the layout that the tensors have. False: elements of a
// tensor share a place, as those of an expanded one do.
bool settle_strides(Convolution* call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_LAYOUT_H_
