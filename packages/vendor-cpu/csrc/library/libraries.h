// The functions behind the seam dl_kernels/library.h, by library.
#ifndef DL_CPU_LIBRARY_LIBRARIES_H_
#define DL_CPU_LIBRARY_LIBRARIES_H_

#include <string>

#include "dl_kernels/library.h"
#include "library/choices.h"

namespace dl::cpu {

namespace onednn {
// "oneDNN 3.2.0", or that there is none.
std::string version();

// How the operands of an operation lie while it computes.
enum class Operands {
  kUsual,  // of products as the caller has them, of convolutions as suits oneDNN best
  kOther,  // of products the right one as suits oneDNN best, of convolutions as the caller has them
};

// `chosen`: also where a product is so small that it would decline.
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call,
          Operands operands = Operands::kUsual, bool chosen = false);
// Whether it computes in this dtype at all.
bool serves(diopiDtype_t dtype);

bool convolve(const kernels::Launch& launch, const kernels::ConvShape& shape,
              const kernels::TensorRef& out, const kernels::TensorRef& input,
              const kernels::TensorRef& weight, const void* bias,
              Operands operands = Operands::kUsual);
bool input_gradient(const kernels::Launch& launch, const kernels::ConvShape& shape,
                    const kernels::TensorRef& grad_input, const kernels::TensorRef& grad_output,
                    const kernels::TensorRef& weight, Operands operands = Operands::kUsual);
bool weight_gradient(const kernels::Launch& launch, const kernels::ConvShape& shape,
                     const kernels::TensorRef& grad_weight, void* grad_bias,
                     const kernels::TensorRef& grad_output, const kernels::TensorRef& input,
                     Operands operands = Operands::kUsual);

// All that makes two convolutions the same operation.
void add_convolution(choices::Key& key, const kernels::ConvShape& shape,
                     const kernels::TensorRef& image, const kernels::TensorRef& weight,
                     const kernels::TensorRef& result, bool bias);
}  // namespace onednn

namespace openblas {
std::string version();
// `chosen` as above.
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call, bool chosen = false);
// Whether it multiplies matrices of this dtype, and adds what the call adds, at all.
bool serves(const kernels::GemmCall& call);
// Whether its kernels use the widest registers that ours use. It falls back to those of an older
// processor on one that it does not know, at half of the speed.
bool uses_wide_registers();
}  // namespace openblas

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_LIBRARIES_H_
