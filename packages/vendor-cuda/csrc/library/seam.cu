// Installs cuBLASLt in dl-kernels' table for matrix libraries. Compiled by nvcc, like the kernels.
#include "dl_kernels/library.h"
#include "library/gemm.h"

namespace dl::cuda {
namespace {

bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call) {
  return gemm_with_library(
      kit::gemm_of(launch, call, call.precision == kernels::MatmulPrecision::kTf32));
}

// While this library is loaded; the first product opens cuBLASLt.
const bool installed = [] {
  kernels::library.gemm = gemm;
  return true;
}();

}  // namespace
}  // namespace dl::cuda
