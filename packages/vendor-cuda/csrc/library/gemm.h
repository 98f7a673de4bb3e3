// Matrix products by cuBLASLt, if it is installed and supports them.
#ifndef DL_CUDA_LIBRARY_GEMM_H_
#define DL_CUDA_LIBRARY_GEMM_H_

#include "dl/kit/gemm.h"

namespace dl::cuda {

// Returns false, without writing anything, if the library is missing, disabled, or does not support
// the call.
bool gemm_with_library(const kit::Gemm& call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_GEMM_H_
