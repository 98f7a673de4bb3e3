// The operators. Names and signatures are those of the contract, and the host has allocated the
// outputs. What this vendor does not compute it declines with DL_NOT_SUPPORTED, before it has
// written anything, and the host runs that elsewhere. It refuses invalid arguments alike.
//
// To add an operator: copy its declaration from the contract's reference (docs/operators.md of
// dl-diopi-proto), write it with the helpers of docs/reference.md of dl-vendor-kit, and list it at
// the end of this file and in profile.py.
#include "dl/kit/operators.h"

#include <algorithm>
#include <string>

#include "dl/kit/tensor.h"
#include "kernels.h"
#include "vendor.h"

namespace __chip__ {
namespace {

namespace kit = dl::kit;

// Returns the float32 tensor behind a handle, and declines any other.
const dl_tensor_prefix_t& float_tensor(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t& tensor = kit::tensor_of(handle);
  if (tensor.dtype != diopi_dtype_float32)
    throw kit::Error(DL_NOT_SUPPORTED, "only float32 tensors are supported");
  if (tensor.ndim > MAX_DIMENSIONS)
    throw kit::Error(DL_NOT_SUPPORTED, "only tensors of up to 16 dimensions are supported");
  return tensor;
}

// Describes a tensor, broadcast to the iteration space of the work.
operand_t broadcast(diopiConstTensorHandle_t handle, const elementwise_t& work) {
  const dl_tensor_prefix_t& tensor = float_tensor(handle);
  operand_t operand{tensor.data, {}};
  kit::broadcast_strides(tensor, work.sizes, work.dimension_count, operand.strides);
  return operand;
}

diopiError_t compute(diopiContextHandle_t ctx, function_t function, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t left, diopiConstTensorHandle_t right,
                     float alpha = 0) {
  const dl_tensor_prefix_t& output = float_tensor(out);
  elementwise_t work{};
  work.function = function;
  work.alpha = alpha;
  work.element_count = output.numel;
  work.dimension_count = output.ndim;
  std::copy_n(output.sizes, output.ndim, work.sizes);
  work.output = broadcast(out, work);
  work.left = broadcast(left, work);
  work.right = broadcast(right, work);
  if (work.element_count > 0) kit::vendor_of<Vendor>(ctx).launch(ctx, elementwise_kernel, work);
  return diopiSuccess;
}

namespace operators {

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return compute(ctx, FUNCTION_ADD, out, input, other, kit::number_of<float>(alpha));
}

diopiError_t diopiSub(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return compute(ctx, FUNCTION_ADD, out, input, other, -kit::number_of<float>(alpha));
}

diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return compute(ctx, FUNCTION_MUL, out, input, other);
}

diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return compute(ctx, FUNCTION_NEG, out, input, input);
}

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  return compute(ctx, FUNCTION_RELU, out, input, input);
}

// Copies between layouts on the device.
diopiError_t diopiCopyInp(diopiContextHandle_t ctx, diopiConstTensorHandle_t src,
                          diopiTensorHandle_t dest) {
  return compute(ctx, FUNCTION_COPY, dest, src, src);
}

diopiError_t diopiMm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat2) {
  const dl_tensor_prefix_t& output = float_tensor(out);
  const dl_tensor_prefix_t& left = float_tensor(input);
  const dl_tensor_prefix_t& right = float_tensor(mat2);
  if (left.ndim != 2 || right.ndim != 2 || output.ndim != 2 || left.sizes[1] != right.sizes[0] ||
      output.sizes[0] != left.sizes[0] || output.sizes[1] != right.sizes[1])
    throw kit::Error(DL_NOT_SUPPORTED, "the shapes are not those of a matrix product");
  const auto operand = [](const dl_tensor_prefix_t& matrix) {
    return operand_t{matrix.data, {matrix.strides[0], matrix.strides[1]}};
  };
  product_t work{};
  work.rows = left.sizes[0];
  work.inner = left.sizes[1];
  work.columns = right.sizes[1];
  work.output = operand(output);
  work.left = operand(left);
  work.right = operand(right);
  if (output.numel > 0) kit::vendor_of<Vendor>(ctx).launch(ctx, product_kernel, work);
  return diopiSuccess;
}

}  // namespace operators

// The macro makes sure that the function has the contract's signature, turns exceptions into error
// codes, and checks the device of the call.
const dl_operator_t kOperators[] = {
    DL_KIT_OPERATOR(Vendor, operators, diopiAdd),     DL_KIT_OPERATOR(Vendor, operators, diopiSub),
    DL_KIT_OPERATOR(Vendor, operators, diopiMul),     DL_KIT_OPERATOR(Vendor, operators, diopiNeg),
    DL_KIT_OPERATOR(Vendor, operators, diopiRelu),    DL_KIT_OPERATOR(Vendor, operators, diopiMm),
    DL_KIT_OPERATOR(Vendor, operators, diopiCopyInp),
};

}  // namespace

kit::Operators Vendor::operators() { return kOperators; }

}  // namespace __chip__
