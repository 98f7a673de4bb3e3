/* Arguments of the kernels in kernels.cl. Two compilers read this file: that of the host, and the
 * driver's, which gets it before kernels.cl. */
#ifndef KERNELS_H_
#define KERNELS_H_

#ifdef __OPENCL_C_VERSION__
typedef long int64_t;
typedef ulong address_t; /* of global memory, in the representation that the host has */
#else
#include <cstddef>
#include <cstdint>
typedef void* address_t;
#endif

enum { MAX_DIMENSIONS = 16 };

/* A float32 tensor, broadcast to an iteration space: a stride of 0 repeats its elements. */
typedef struct {
  address_t data;                  /* address of the first element in device memory */
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
 * columns]. */
typedef struct {
  int64_t rows;
  int64_t inner;
  int64_t columns;
  operand_t output;
  operand_t left;
  operand_t right;
} product_t;

#ifndef __OPENCL_C_VERSION__
/* Names of the kernels, and the number of work-items that each needs. */
constexpr const char* elementwise_kernel = "elementwise_kernel";
constexpr const char* product_kernel = "product_kernel";
inline size_t work_items(const elementwise_t& work) {
  return static_cast<size_t>(work.element_count);
}
inline size_t work_items(const product_t& work) {
  return static_cast<size_t>(work.rows * work.columns);
}
#endif

#endif /* KERNELS_H_ */
