// The seam of dl-kernels for libraries, filled: in a unit of nvcc's, as the kernels are.
#include "dl_kernels/library.h"
#include "library/gemm.h"

namespace dl::cuda {
namespace {

template <class Data>
Matrices matrices(const kernels::MatrixBatch<Data>& batch) {
  return {batch.data, batch.step, batch.row, batch.column};
}

bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call) {
  return gemm_by_library({static_cast<int>(call.dtype), static_cast<int>(call.out_dtype),
                          call.batch, call.m, call.n, call.k, call.alpha, call.beta,
                          matrices(call.a), matrices(call.b), matrices(call.c), call.bias,
                          call.precision == kernels::MatmulPrecision::kTf32, launch.stream(),
                          [&](int64_t bytes) { return launch.scratch()->take(bytes); }});
}

// While this library is loaded; cuBLASLt is opened by the first product.
const bool installed = [] {
  kernels::library.gemm = gemm;
  return true;
}();

}  // namespace
}  // namespace dl::cuda
