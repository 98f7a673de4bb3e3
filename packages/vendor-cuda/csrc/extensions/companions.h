// Optional libraries of other wheels.
#ifndef DL_CUDA_EXTENSIONS_COMPANIONS_H_
#define DL_CUDA_EXTENSIONS_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::cuda {

// NVIDIA's libraries assume NVIDIA's own driver and fail unpredictably with another driver. If
// DL_CUDA_DRIVER names a driver, only libraries that are named explicitly are used.
const kit::Companion& nccl_companion();
const kit::Companion& cupti_companion();
const kit::Companion& blaslt_companion();
const kit::Companion& cudnn_companion();

// Returns true if operators may use vendor libraries: false for DL_CUDA_LIBRARIES=off.
bool libraries_enabled();

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_COMPANIONS_H_
