// The kernels, in OpenCL C. One work-item computes one element of the output.

global float* element(operand_t operand, long position) {
  return (global float*)operand.data + position;
}

// Returns the offset of the element with this number, in the order of the iteration space.
long offset(const elementwise_t* work, const operand_t* operand, long number) {
  long found = 0;
  for (long d = work->dimension_count - 1; d >= 0; --d) {
    found += number % work->sizes[d] * operand->strides[d];
    number /= work->sizes[d];
  }
  return found;
}

kernel void elementwise_kernel(elementwise_t work) {
  const long number = get_global_id(0);
  const float left = *element(work.left, offset(&work, &work.left, number));
  const float right = *element(work.right, offset(&work, &work.right, number));
  float result = left;  // FUNCTION_COPY
  if (work.function == FUNCTION_ADD) result = left + work.alpha * right;
  if (work.function == FUNCTION_MUL) result = left * right;
  if (work.function == FUNCTION_NEG) result = -left;
  if (work.function == FUNCTION_RELU) result = left < 0 ? 0 : left;
  *element(work.output, offset(&work, &work.output, number)) = result;
}

kernel void product_kernel(product_t work) {
  const long row = get_global_id(0) / work.columns;
  const long column = get_global_id(0) % work.columns;
  float sum = 0;
  for (long i = 0; i < work.inner; ++i) {
    const float left =
        *element(work.left, row * work.left.strides[0] + i * work.left.strides[1]);
    const float right =
        *element(work.right, i * work.right.strides[0] + column * work.right.strides[1]);
    sum += left * right;
  }
  *element(work.output, row * work.output.strides[0] + column * work.output.strides[1]) = sum;
}
