// Convolutions of the fake cuDNN as work of a stream: operands are copied to the host, a host
// function computes, and the result is copied back. The host does not wait, and graphs can capture
// the work.
#ifndef DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_
#define DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_

#include "cudnn.h"
#include "libraries/convolving.h"

namespace fake {

inline DType dtype_of(int type) {
  return type == kFloat32   ? DType::kFloat32
         : type == kFloat64 ? DType::kFloat64
         : type == kFloat16 ? DType::kFloat16
                            : DType::kBfloat16;
}

inline Operand operand_of(const Object& tensor) {
  return {dtype_of(tensor.one<int>(kTensorType)), tensor.all<int64_t>(kTensorSizes),
          tensor.all<int64_t>(kTensorStrides)};
}

struct Job : Convolving {
  struct Copy {
    Operand* operand;
    dl::kit::cuda::Address device;
  };
  Copy copies[3];

  Job(const Operation& operation, bool to_tf32, const void* x, const void* w, const void* y)
      : Convolving{operation.self.kind == kForward         ? Written::kOutput
                   : operation.self.kind == kInputGradient ? Written::kInput
                                                           : Written::kWeight,
                   operand_of(operation.input), operand_of(operation.weight),
                   operand_of(operation.output)},
        copies{{&input, dl::kit::cuda::address_of(x)},
               {&weight, dl::kit::cuda::address_of(w)},
               {&output, dl::kit::cuda::address_of(y)}} {
    alpha = operation.alpha;
    beta = operation.beta;
    rounds = to_tf32;
    set(stride, operation.convolution.all<int64_t>(kStrides));
    set(dilation, operation.convolution.all<int64_t>(kDilations));
    set(before, operation.convolution.all<int64_t>(kPaddingBefore));
  }
};

}  // namespace fake

#endif  // DL_CUDA_TESTS_FAKES_CUDNN_JOB_H_
