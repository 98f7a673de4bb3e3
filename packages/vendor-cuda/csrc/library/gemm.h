// Products of matrices by cuBLASLt, where it is installed and takes them.
#ifndef DL_CUDA_LIBRARY_GEMM_H_
#define DL_CUDA_LIBRARY_GEMM_H_

#include "dl/kit/gemm.h"

namespace dl::cuda {

// False, and nothing was written: the library is not there, is switched off, or does not take it.
bool gemm_by_library(const kit::Gemm& call);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_GEMM_H_
