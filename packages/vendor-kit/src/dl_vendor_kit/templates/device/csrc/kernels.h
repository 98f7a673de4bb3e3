/* The kernels: the code that runs on the device, and the arguments that it gets.
 *
 * This file and kernels.c are compiled for the host, because the stand-in device consists of host
 * threads. Compile yours with the chip's compiler, and keep the arguments plain structs. */
#ifndef KERNELS_H_
#define KERNELS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_DIMENSIONS = 16 };

/* A float32 tensor, broadcast to an iteration space: a stride of 0 repeats its elements. */
typedef struct {
  void* data;                      /* address of the first element in device memory */
  int64_t strides[MAX_DIMENSIONS]; /* in elements */
} operand_t;

typedef enum {
  FUNCTION_ADD,  /* left + alpha * right */
  FUNCTION_MUL,  /* left * right */
  FUNCTION_NEG,  /* -left */
  FUNCTION_RELU, /* max(left, 0); NaN stays NaN */
  FUNCTION_COPY, /* left */
} function_t;

/* Arguments of elementwise_kernel: output = function(left, right) for each index below `sizes`. */
typedef struct {
  function_t function;
  float alpha;
  int64_t element_count;
  int64_t dimension_count;
  int64_t sizes[MAX_DIMENSIONS];
  operand_t output;
  operand_t left;
  operand_t right;
} elementwise_t;

/* Arguments of product_kernel: output [rows, columns] = left [rows, inner] * right [inner,
 * columns].
 */
typedef struct {
  int64_t rows;
  int64_t inner;
  int64_t columns;
  operand_t output;
  operand_t left;
  operand_t right;
} product_t;

void elementwise_kernel(const void* arguments);
void product_kernel(const void* arguments);

#ifdef __cplusplus
}
#endif

#endif /* KERNELS_H_ */
