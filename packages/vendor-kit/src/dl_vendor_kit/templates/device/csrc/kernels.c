#include "kernels.h"

#include "address.h"

static float* element(const operand_t* operand, int64_t position) {
  return (float*)device_address(operand->data) + position;
}

/* First element of a row: of the elements that differ in the index of the last dimension only. */
static float* first_of_row(const operand_t* operand, const elementwise_t* work, int64_t row) {
  int64_t position = 0;
  for (int64_t d = work->dimension_count - 2; d >= 0; --d) {
    position += row % work->sizes[d] * operand->strides[d];
    row /= work->sizes[d];
  }
  return element(operand, position);
}

static float apply(function_t function, float alpha, float left, float right) {
  switch (function) {
    case FUNCTION_ADD:
      return left + alpha * right;
    case FUNCTION_MUL:
      return left * right;
    case FUNCTION_NEG:
      return -left;
    case FUNCTION_RELU:
      return left < 0 ? 0 : left;
    case FUNCTION_COPY:
      return left;
  }
  return 0;
}

void elementwise_kernel(const void* arguments) {
  const elementwise_t* work = (const elementwise_t*)arguments;
  const int64_t last = work->dimension_count - 1;
  const int64_t columns = last < 0 ? 1 : work->sizes[last];
  const int64_t output_stride = last < 0 ? 0 : work->output.strides[last];
  const int64_t left_stride = last < 0 ? 0 : work->left.strides[last];
  const int64_t right_stride = last < 0 ? 0 : work->right.strides[last];
  for (int64_t row = 0; row < work->element_count / columns; ++row) {
    float* output = first_of_row(&work->output, work, row);
    const float* left = first_of_row(&work->left, work, row);
    const float* right = first_of_row(&work->right, work, row);
    for (int64_t i = 0; i < columns; ++i) {
      output[i * output_stride] =
          apply(work->function, work->alpha, left[i * left_stride], right[i * right_stride]);
    }
  }
}

void product_kernel(const void* arguments) {
  const product_t* work = (const product_t*)arguments;
  for (int64_t row = 0; row < work->rows; ++row) {
    for (int64_t column = 0; column < work->columns; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < work->inner; ++i) {
        const operand_t *left = &work->left, *right = &work->right;
        sum += *element(left, row * left->strides[0] + i * left->strides[1]) *
               *element(right, i * right->strides[0] + column * right->strides[1]);
      }
      const operand_t* output = &work->output;
      *element(output, row * output->strides[0] + column * output->strides[1]) = sum;
    }
  }
}
