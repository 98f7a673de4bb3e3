// Implementations of the interface dl_kernels/library.h, one namespace for each library.
#ifndef DL_CPU_LIBRARY_LIBRARIES_H_
#define DL_CPU_LIBRARY_LIBRARIES_H_

#include <string>

#include "dl_kernels/library.h"
#include "library/choices.h"

namespace dl::cpu {

namespace onednn {
// "oneDNN 3.2.0", or a text that says it is missing.
std::string version();

// Memory layout of the operands of an operation.
enum class Operands {
  kUsual,  // products: the caller's layout; convolutions: oneDNN's fastest one
  kOther,  // products: oneDNN's fastest layout for the right operand; convolutions: the caller's
};

// `chosen`: also serve products so small that it would otherwise decline.
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call,
          Operands operands = Operands::kUsual, bool chosen = false);
// Return true if it supports this dtype.
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

// Add everything that identifies the convolution.
void add_convolution(choices::Key& key, const kernels::ConvShape& shape,
                     const kernels::TensorRef& image, const kernels::TensorRef& weight,
                     const kernels::TensorRef& result, bool bias);
}  // namespace onednn

namespace openblas {
std::string version();
// `chosen` as above.
bool gemm(const kernels::Launch& launch, const kernels::GemmCall& call, bool chosen = false);
// Return true if it supports products of this dtype, with the addends of the call.
bool serves(const kernels::GemmCall& call);
// Return true if its kernels use the widest registers that ours use. On an unknown processor it
// falls back to kernels for an older one, at half of the speed.
bool uses_wide_registers();
}  // namespace openblas

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_LIBRARIES_H_
