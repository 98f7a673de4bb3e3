// Installs cuBLASLt in dl-kernels' table of libraries. Compiled by nvcc, like the kernels.
#include "dl_kernels/library.h"
#include "library/gemm.h"

namespace dl::cuda {

// Initialized when this library is loaded; the first product opens cuBLASLt.
static const bool installed = kit::install_gemm<gemm_with_library>(kernels::library.gemm);

}  // namespace dl::cuda
