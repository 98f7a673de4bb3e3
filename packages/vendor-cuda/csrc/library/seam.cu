// The seam of dl-kernels for libraries, filled: in a unit of nvcc's, as the kernels are.
#include "dl_kernels/library.h"
#include "library/gemm.h"

namespace dl::cuda {
namespace {

bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call) {
  return gemm_by_library(
      kit::gemm_of(launch, call, call.precision == kernels::MatmulPrecision::kTf32));
}

// While this library is loaded; cuBLASLt is opened by the first product.
const bool installed = [] {
  kernels::library.gemm = gemm;
  return true;
}();

}  // namespace
}  // namespace dl::cuda
