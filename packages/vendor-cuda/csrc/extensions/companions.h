// The libraries of other wheels that this one uses where they are installed.
#ifndef DL_CUDA_EXTENSIONS_COMPANIONS_H_
#define DL_CUDA_EXTENSIONS_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::cuda {

// What works with a driver that DL_CUDA_DRIVER names is not known: NVIDIA's libraries take it for
// their own, and fail in ways of their own. With one, only those are used that are named, too.
const kit::Companion& nccl_companion();
const kit::Companion& cupti_companion();
const kit::Companion& blaslt_companion();
const kit::Companion& cudnn_companion();

// Whether operators may use the libraries that compute: false for DL_CUDA_LIBRARIES=off.
bool libraries_wanted();

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_COMPANIONS_H_
