// A faster addition for vendor `cpu`: contiguous float32 tensors of one shape, in one loop. The
// vendor's own operator computes everything else.
#include "dl/kit/added_operators.h"
#include "dl/kit/tensor.h"

namespace {
namespace ops {

using dl::kit::Error;

// Returns the elements of a contiguous float32 tensor with the sizes of another one.
float* elements(const dl_tensor_prefix_t& tensor, const dl_tensor_prefix_t& like) {
  int64_t stride = 1;
  bool fits = tensor.dtype == diopi_dtype_float32 && tensor.ndim == like.ndim;
  for (int64_t i = tensor.ndim - 1; fits && i >= 0; --i) {
    fits =
        tensor.sizes[i] == like.sizes[i] && (tensor.sizes[i] == 1 || tensor.strides[i] == stride);
    stride *= tensor.sizes[i];
  }
  if (!fits) throw Error(DL_NOT_SUPPORTED, "only contiguous float32 tensors of one shape");
  return static_cast<float*>(tensor.data);
}

diopiError_t diopiAdd(diopiContextHandle_t, diopiTensorHandle_t out, diopiConstTensorHandle_t input,
                      diopiConstTensorHandle_t other, const diopiScalar_t* alpha) {
  const dl_tensor_prefix_t& result = dl::kit::tensor_of(out);
  float* const sums = elements(result, result);
  const float* const a = elements(dl::kit::tensor_of(input), result);
  const float* const b = elements(dl::kit::tensor_of(other), result);
  const auto factor = dl::kit::number_of<float>(alpha);
  for (int64_t i = 0; i < result.numel; ++i) sums[i] = a[i] + factor * b[i];
  return diopiSuccess;
}

}  // namespace ops

const dl_operator_t kOperators[] = {DL_KIT_ADDED_OPERATOR(ops, diopiAdd)};

}  // namespace

DL_KIT_ADD_OPERATORS("0.1.0", kOperators, nullptr);
