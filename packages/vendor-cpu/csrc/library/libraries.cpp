#include "library/libraries.h"

namespace dl::cpu {
namespace {

// One or two columns, or rows, of dot products along dense memory: our kernels read the matrix as
// fast as memory gives it, which the libraries' general products do not.
bool is_vector_product(const kernels::GemmCall& call) {
  return (call.n <= 2 && call.a.column == 1) || (call.m <= 2 && call.b.row == 1);
}

bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call) {
  if (is_vector_product(call) || call.out_dtype != call.dtype) return false;
  return onednn::gemm(launch, call) || openblas::gemm(launch, call);
}

// While this library is loaded; the libraries behind it are opened by the first call.
const bool installed = [] {
  kernels::library = {gemm, onednn::convolve, onednn::input_gradient, onednn::weight_gradient};
  return true;
}();

}  // namespace
}  // namespace dl::cpu
