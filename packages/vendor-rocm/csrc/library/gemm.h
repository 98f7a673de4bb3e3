// Products of matrices by hipBLASLt, where it is installed and takes them.
#ifndef DL_ROCM_LIBRARY_GEMM_H_
#define DL_ROCM_LIBRARY_GEMM_H_

#include "dl/kit/gemm.h"

namespace dl::rocm {

// False, and nothing was written: the library is not there, is switched off, or does not take it.
bool gemm_by_library(const kit::Gemm& call);

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_GEMM_H_
