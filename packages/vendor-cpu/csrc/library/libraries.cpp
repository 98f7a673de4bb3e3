#include "library/libraries.h"

namespace dl::cpu {
namespace {

bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call) {
  return onednn::gemm(launch, call) || openblas::gemm(launch, call);
}

// While this library is loaded; the libraries behind it are opened by the first call.
const bool installed = [] {
  kernels::library = {gemm, onednn::convolve, onednn::input_gradient, onednn::weight_gradient};
  return true;
}();

}  // namespace
}  // namespace dl::cpu
