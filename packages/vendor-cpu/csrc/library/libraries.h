// The functions behind the seam dl_kernels/library.h, by library.
#ifndef DL_CPU_LIBRARY_LIBRARIES_H_
#define DL_CPU_LIBRARY_LIBRARIES_H_

#include "dl_kernels/library.h"

namespace dl::cpu {

namespace onednn {
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call);
bool convolve(const kernels::Launch& launch, const kernels::ConvShape& shape,
              const kernels::TensorRef& out, const kernels::TensorRef& input,
              const kernels::TensorRef& weight, const void* bias);
bool input_gradient(const kernels::Launch& launch, const kernels::ConvShape& shape,
                    const kernels::TensorRef& grad_input, const kernels::TensorRef& grad_output,
                    const kernels::TensorRef& weight);
bool weight_gradient(const kernels::Launch& launch, const kernels::ConvShape& shape,
                     const kernels::TensorRef& grad_weight, void* grad_bias,
                     const kernels::TensorRef& grad_output, const kernels::TensorRef& input);
}  // namespace onednn

namespace openblas {
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call);
}  // namespace openblas

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_LIBRARIES_H_
