// Installs hipBLASLt in dl-kernels' table of libraries. Compiled by hipcc, like the kernels.
#include "dl_kernels/library.h"
#include "library/gemm.h"

namespace dl::rocm {

// Initialized when this library is loaded; the first product opens hipBLASLt.
static const bool installed = kit::install_gemm<gemm_with_library>(kernels::library.gemm);

}  // namespace dl::rocm
