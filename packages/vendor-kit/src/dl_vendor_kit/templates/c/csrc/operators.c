/* The operators. Names and signatures are those of the contract, and the host has allocated the
 * outputs. What this vendor does not compute it declines, before it has written anything, and the
 * host runs that elsewhere. It refuses invalid arguments alike.
 *
 * To add an operator: copy its declaration from the contract's reference (docs/operators.md of
 * dl-diopi-proto), write it, and list it at the end of this file and in profile.py. The fields of
 * its arguments are in docs/reference.md of dl-vendor-kit.
 */
#include "kernels.h"
#include "vendor.h"

static _Thread_local const char* message;

const char* last_message(void) { return message; }

diopiError_t refuse(diopiError_t code, const char* reason) {
  message = reason;
  return code;
}

/* Return the float32 tensor behind a handle; NULL, with the reason, for any other. */
static const dl_tensor_prefix_t* float_tensor(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t* tensor = diopirt_tensor(handle);
  if (tensor == NULL || tensor->dtype != diopi_dtype_float32) {
    message = "only float32 tensors are supported";
    return NULL;
  }
  if (tensor->ndim > MAX_DIMENSIONS) {
    message = "only tensors of up to 16 dimensions are supported";
    return NULL;
  }
  return tensor;
}

/* Describe a tensor, broadcast to the iteration space of the work. */
static diopiError_t describe(diopiConstTensorHandle_t handle, const elementwise_t* work,
                             operand_t* operand) {
  const dl_tensor_prefix_t* tensor = float_tensor(handle);
  if (tensor == NULL) return diopiNoImplement;
  operand->data = tensor->data;
  for (int64_t d = 0; d < work->dimension_count; ++d) operand->strides[d] = 0;
  for (int64_t i = 0; i < tensor->ndim; ++i) {
    const int64_t d = work->dimension_count - tensor->ndim + i;
    if (tensor->sizes[i] == 1) continue;
    if (d < 0 || tensor->sizes[i] != work->sizes[d]) {
      return refuse(diopiNoImplement, "the shapes of the operands are not broadcastable");
    }
    operand->strides[d] = tensor->strides[i];
  }
  return diopiSuccess;
}

static diopiError_t compute(diopiContextHandle_t ctx, function_t function, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t left, diopiConstTensorHandle_t right,
                            float alpha) {
  const dl_tensor_prefix_t* output = float_tensor(out);
  if (output == NULL) return diopiNoImplement;
  elementwise_t work = {.function = function, .alpha = alpha};
  work.element_count = output->numel;
  work.dimension_count = output->ndim;
  for (int64_t d = 0; d < output->ndim; ++d) work.sizes[d] = output->sizes[d];
  diopiError_t code = describe(out, &work, &work.output);
  if (code == diopiSuccess) code = describe(left, &work, &work.left);
  if (code == diopiSuccess) code = describe(right, &work, &work.right);
  if (code != diopiSuccess || work.element_count == 0) return code;
  return launch(ctx, elementwise_kernel, &work, sizeof work);
}

/* Convert a scalar of the host. */
static float number_of(const diopiScalar_t* scalar) {
  switch (scalar->stype) {
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
    case diopi_dtype_float32:
    case diopi_dtype_float64:
      return (float)scalar->fval;
    default:
      return (float)scalar->ival;
  }
}

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return compute(ctx, FUNCTION_ADD, out, input, other, number_of(alpha));
}

diopiError_t diopiSub(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return compute(ctx, FUNCTION_ADD, out, input, other, -number_of(alpha));
}

diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return compute(ctx, FUNCTION_MUL, out, input, other, 0);
}

diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  return compute(ctx, FUNCTION_NEG, out, input, input, 0);
}

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  return compute(ctx, FUNCTION_RELU, out, input, input, 0);
}

/* Copies between layouts on the device. */
diopiError_t diopiCopyInp(diopiContextHandle_t ctx, diopiConstTensorHandle_t src,
                          diopiTensorHandle_t dest) {
  return compute(ctx, FUNCTION_COPY, dest, src, src, 0);
}

static operand_t matrix_operand(const dl_tensor_prefix_t* matrix) {
  return (operand_t){matrix->data, {matrix->strides[0], matrix->strides[1]}};
}

diopiError_t diopiMm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat2) {
  const dl_tensor_prefix_t* output = float_tensor(out);
  const dl_tensor_prefix_t* left = output == NULL ? NULL : float_tensor(input);
  const dl_tensor_prefix_t* right = left == NULL ? NULL : float_tensor(mat2);
  if (right == NULL) return diopiNoImplement;
  if (left->ndim != 2 || right->ndim != 2 || output->ndim != 2 ||
      left->sizes[1] != right->sizes[0] || output->sizes[0] != left->sizes[0] ||
      output->sizes[1] != right->sizes[1]) {
    return refuse(diopiNoImplement, "the shapes are not those of a matrix product");
  }
  if (output->numel == 0) return diopiSuccess;
  const product_t work = {left->sizes[0],         left->sizes[1],       right->sizes[1],
                          matrix_operand(output), matrix_operand(left), matrix_operand(right)};
  return launch(ctx, product_kernel, &work, sizeof work);
}

/* The fingerprint in each entry is that of the signature that this file was compiled for. */
const dl_operator_t vendor_operators[] = {
    DL_C_OPERATOR(diopiAdd), DL_C_OPERATOR(diopiSub),  DL_C_OPERATOR(diopiMul),
    DL_C_OPERATOR(diopiNeg), DL_C_OPERATOR(diopiRelu), DL_C_OPERATOR(diopiCopyInp),
    DL_C_OPERATOR(diopiMm),
};
const size_t vendor_operator_count = sizeof vendor_operators / sizeof vendor_operators[0];
