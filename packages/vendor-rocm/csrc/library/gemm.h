// Matrix products by hipBLASLt, if it is installed and supports them.
#ifndef DL_ROCM_LIBRARY_GEMM_H_
#define DL_ROCM_LIBRARY_GEMM_H_

#include "dl/kit/gemm.h"

namespace dl::rocm {

// Returns false, without writing anything, if the library is missing, disabled, or does not support
// the call.
bool gemm_with_library(const kit::Gemm& call);

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_GEMM_H_
