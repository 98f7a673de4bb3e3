/* A library in DIOPI's own style for the simulated device: DIOPI's signatures, exported by name,
 * with runtime functions from the host. float32; as many libraries of this kind, it checks no
 * shapes. */
#include <math.h>
#include <string.h>

#include "kernels.h"

static int is_float(const View* view) {
  return view->data == NULL || view->dtype == diopi_dtype_float32;
}

static diopiError_t floats(const Arguments* arguments, int count) {
  for (int i = 0; i < count; ++i)
    if (!is_float(&arguments->tensors[i])) return decline_dtype("only float32 is supported");
  return diopiSuccess;
}

/* Elementwise operators: out, input, other. */

#define ELEMENTWISE(name, count, expression)                                                   \
  static void name(const Arguments* arguments, char* const* memory) {                          \
    const View* tensors = arguments->tensors;                                                  \
    const double p = arguments->numbers[0], q = arguments->numbers[1];                         \
    (void)p, (void)q;                                                                          \
    for (int64_t i = 0; i < tensors[0].numel; ++i) {                                           \
      const double x = count > 1 ? load(&tensors[1], memory[1], position(&tensors[1], i)) : 0; \
      const double y = count > 2 ? load(&tensors[2], memory[2], position(&tensors[2], i)) : 0; \
      (void)x, (void)y;                                                                        \
      store(&tensors[0], memory[0], position(&tensors[0], i), expression);                     \
    }                                                                                          \
  }

static double gelu(double x) { return x * 0.5 * erfc(-x * M_SQRT1_2); }
static double gelu_slope(double x) {
  return 0.5 * erfc(-x * M_SQRT1_2) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
}

ELEMENTWISE(fill_kernel, 1, p)
ELEMENTWISE(add_kernel, 3, (double)(float)x + (double)((float)p * (float)y))
ELEMENTWISE(sub_kernel, 3, (double)(float)x - (double)((float)p * (float)y))
ELEMENTWISE(mul_kernel, 3, x* y)
ELEMENTWISE(div_kernel, 3, x / y)
ELEMENTWISE(add_scalar_kernel, 2, x + (double)(float)(p * q))
ELEMENTWISE(mul_scalar_kernel, 2, x*(double)(float)p)
ELEMENTWISE(div_scalar_kernel, 2, x / (double)(float)p)
ELEMENTWISE(neg_kernel, 2, -x)
ELEMENTWISE(exp_kernel, 2, exp(x))
ELEMENTWISE(sqrt_kernel, 2, sqrt(x))
ELEMENTWISE(tanh_kernel, 2, tanh(x))
ELEMENTWISE(sigmoid_kernel, 2, 1 / (1 + exp(-x)))
ELEMENTWISE(relu_kernel, 2, x < 0 ? 0 : x)
ELEMENTWISE(gelu_kernel, 2, gelu(x))
ELEMENTWISE(gelu_backward_kernel, 3, x* gelu_slope(y))
ELEMENTWISE(threshold_backward_kernel, 3, y <= p ? 0 : x)
ELEMENTWISE(eq_scalar_kernel, 2, x == p)

/* Integers of 64 bits do not fit into doubles. */
static void copy_kernel(const Arguments* arguments, char* const* memory) {
  const View *to = &arguments->tensors[0], *from = &arguments->tensors[1];
  const int integers = to->dtype == diopi_dtype_int64 && from->dtype == diopi_dtype_int64;
  for (int64_t i = 0; i < to->numel; ++i) {
    const int64_t target = position(to, i), source = position(from, i);
    if (integers) {
      ((int64_t*)memory[0])[target] = ((const int64_t*)memory[1])[source];
    } else {
      store(to, memory[0], target, load(from, memory[1], source));
    }
  }
}

static diopiError_t elementwise(diopiContextHandle_t ctx, Kernel kernel, diopiTensorHandle_t out,
                                diopiConstTensorHandle_t a, diopiConstTensorHandle_t b, double p,
                                double q, int any_dtype) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  const int count = b != NULL ? 3 : a != NULL ? 2 : 1;
  TRY(describe(out, &arguments.tensors[0]));
  TRY(describe(a, &arguments.tensors[1]));
  TRY(describe(b, &arguments.tensors[2]));
  if (!any_dtype) TRY(floats(&arguments, count));
  for (int i = 1; i < count; ++i) expand(&arguments.tensors[i], &arguments.tensors[0]);
  arguments.numbers[0] = p;
  arguments.numbers[1] = q;
  return run(ctx, kernel, &arguments, count);
}

diopiError_t diopiFill(diopiContextHandle_t ctx, diopiTensorHandle_t input,
                       const diopiScalar_t* value) {
  return elementwise(ctx, fill_kernel, input, NULL, NULL, number(value), 0, 1);
}

diopiError_t diopiCopyInp(diopiContextHandle_t ctx, diopiConstTensorHandle_t src,
                          diopiTensorHandle_t dest) {
  return elementwise(ctx, copy_kernel, dest, src, NULL, 0, 0, 1);
}

diopiError_t diopiCastDtype(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input) {
  return elementwise(ctx, copy_kernel, out, input, NULL, 0, 0, 1);
}

diopiError_t diopiAdd(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return elementwise(ctx, add_kernel, out, input, other, number(alpha), 0, 0);
}

diopiError_t diopiSub(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      const diopiScalar_t* alpha) {
  return elementwise(ctx, sub_kernel, out, input, other, number(alpha), 0, 0);
}

diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  return elementwise(ctx, mul_kernel, out, input, other, 0, 0, 0);
}

diopiError_t diopiDiv(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                      diopiRoundMode_t rounding_mode) {
  if (rounding_mode != RoundModeNone) return decline("quotients are not rounded");
  return elementwise(ctx, div_kernel, out, input, other, 0, 0, 0);
}

diopiError_t diopiAddScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other,
                            const diopiScalar_t* alpha) {
  return elementwise(ctx, add_scalar_kernel, out, input, NULL, number(other), number(alpha), 0);
}

diopiError_t diopiMulScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other) {
  return elementwise(ctx, mul_scalar_kernel, out, input, NULL, number(other), 0, 0);
}

diopiError_t diopiDivScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t input, const diopiScalar_t* other,
                            diopiRoundMode_t rounding_mode) {
  if (rounding_mode != RoundModeNone) return decline("quotients are not rounded");
  return elementwise(ctx, div_scalar_kernel, out, input, NULL, number(other), 0, 0);
}

#define UNARY(name, kernel)                                            \
  diopiError_t name(diopiContextHandle_t ctx, diopiTensorHandle_t out, \
                    diopiConstTensorHandle_t input) {                  \
    return elementwise(ctx, kernel, out, input, NULL, 0, 0, 0);        \
  }
UNARY(diopiNeg, neg_kernel)
UNARY(diopiExp, exp_kernel)
UNARY(diopiSqrt, sqrt_kernel)
UNARY(diopiTanh, tanh_kernel)
UNARY(diopiSigmoid, sigmoid_kernel)
UNARY(diopiRelu, relu_kernel)

diopiError_t diopiGelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input, const char* approximate) {
  if (strcmp(approximate, "none") != 0) return decline("GELU is not approximated");
  return elementwise(ctx, gelu_kernel, out, input, NULL, 0, 0, 0);
}

diopiError_t diopiGeluBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                               diopiConstTensorHandle_t grad_output, diopiConstTensorHandle_t input,
                               const char* approximate) {
  if (strcmp(approximate, "none") != 0) return decline("GELU is not approximated");
  return elementwise(ctx, gelu_backward_kernel, grad_input, grad_output, input, 0, 0, 0);
}

diopiError_t diopiThresholdBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                                    diopiConstTensorHandle_t grad_output,
                                    diopiConstTensorHandle_t input,
                                    const diopiScalar_t* threshold) {
  return elementwise(ctx, threshold_backward_kernel, grad_input, grad_output, input,
                     number(threshold), 0, 0);
}

diopiError_t diopiEqScalar(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                           diopiConstTensorHandle_t input, const diopiScalar_t* other) {
  return elementwise(ctx, eq_scalar_kernel, out, input, NULL, number(other), 0, 1);
}

/* Products: out [b, n, m] = q * input [b, n, k] @ mat2 [b, k, m] + p * added. */

static void product_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *a = &arguments->tensors[1];
  const View *b = &arguments->tensors[2], *c = &arguments->tensors[3];
  const int64_t n = out->sizes[1], m = out->sizes[2], k = a->sizes[2];
  for (int64_t i = 0; i < out->numel; ++i) {
    const int64_t batch = i / (n * m), row = i / m % n, column = i % m;
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += load(a, memory[1], batch * a->strides[0] + row * a->strides[1] + j * a->strides[2]) *
             load(b, memory[2], batch * b->strides[0] + j * b->strides[1] + column * b->strides[2]);
    sum *= arguments->numbers[1];
    if (c->data != NULL && arguments->numbers[0] != 0)
      sum += arguments->numbers[0] * load(c, memory[3], position(c, i));
    store(out, memory[0], position(out, i), sum);
  }
}

static void add_batch(View* view) {
  if (view->ndim == 3) return;
  memmove(view->sizes + 1, view->sizes, 2 * sizeof(int64_t));
  memmove(view->strides + 1, view->strides, 2 * sizeof(int64_t));
  view->sizes[0] = 1;
  view->strides[0] = 0;
  view->ndim = 3;
}

static diopiError_t product(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t a, diopiConstTensorHandle_t b,
                            diopiConstTensorHandle_t c, double beta, double alpha) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  TRY(describe(out, &arguments.tensors[0]));
  TRY(describe(a, &arguments.tensors[1]));
  TRY(describe(b, &arguments.tensors[2]));
  TRY(describe(c, &arguments.tensors[3]));
  TRY(floats(&arguments, 4));
  for (int i = 0; i < 3; ++i) add_batch(&arguments.tensors[i]);
  if (c != NULL) expand(&arguments.tensors[3], &arguments.tensors[0]);
  arguments.numbers[0] = beta;
  arguments.numbers[1] = alpha;
  return run(ctx, product_kernel, &arguments, 4);
}

diopiError_t diopiMm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                     diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat2) {
  return product(ctx, out, input, mat2, NULL, 0, 1);
}

diopiError_t diopiBmm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat2) {
  return product(ctx, out, input, mat2, NULL, 0, 1);
}

diopiError_t diopiAddmm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                        diopiConstTensorHandle_t input, diopiConstTensorHandle_t mat1,
                        diopiConstTensorHandle_t mat2, const diopiScalar_t* beta,
                        const diopiScalar_t* alpha) {
  return product(ctx, out, mat1, mat2, input, number(beta), number(alpha));
}

/* Rows: out, input and a third tensor along one dimension. */

typedef struct {
  int64_t rows, length, step; /* step: index distance between the elements of a row */
} Rows;

static Rows rows_of(const View* view, int64_t dim) {
  Rows rows = {1, 1, 1};
  if (view->ndim == 0) return rows;
  rows.length = view->sizes[dim];
  for (int64_t d = dim + 1; d < view->ndim; ++d) rows.step *= view->sizes[d];
  rows.rows = rows.length == 0 ? 0 : view->numel / rows.length;
  return rows;
}

static int64_t in_row(const Rows* rows, int64_t row, int64_t i) {
  return row / rows->step * rows->step * rows->length + row % rows->step + i * rows->step;
}

static double element(const View* view, const char* memory, const Rows* rows, int64_t row,
                      int64_t i) {
  return load(view, memory, position(view, in_row(rows, row, i)));
}

static void softmax_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *input = &arguments->tensors[1];
  const Rows rows = rows_of(input, arguments->integers[0]);
  for (int64_t row = 0; row < rows.rows; ++row) {
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < rows.length; ++i) {
      const double x = element(input, memory[1], &rows, row, i);
      if (x > most || x != x) most = x;
      if (x != x) break;
    }
    for (int64_t i = 0; i < rows.length; ++i)
      sum += exp(element(input, memory[1], &rows, row, i) - most);
    for (int64_t i = 0; i < rows.length; ++i) {
      const double x = element(input, memory[1], &rows, row, i) - most;
      store(out, memory[0], position(out, in_row(&rows, row, i)),
            arguments->integers[1] ? x - log(sum) : exp(x) / sum);
    }
  }
}

static void softmax_backward_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *grad = &arguments->tensors[1];
  const View* output = &arguments->tensors[2];
  const Rows rows = rows_of(output, arguments->integers[0]);
  const int logarithm = arguments->integers[1] != 0;
  for (int64_t row = 0; row < rows.rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < rows.length; ++i) {
      const double g = element(grad, memory[1], &rows, row, i);
      sum += logarithm ? g : g * element(output, memory[2], &rows, row, i);
    }
    for (int64_t i = 0; i < rows.length; ++i) {
      const double g = element(grad, memory[1], &rows, row, i);
      const double y = element(output, memory[2], &rows, row, i);
      store(out, memory[0], position(out, in_row(&rows, row, i)),
            logarithm ? g - exp(y) * sum : y * (g - sum));
    }
  }
}

static diopiError_t along(diopiContextHandle_t ctx, Kernel kernel, diopiTensorHandle_t out,
                          diopiConstTensorHandle_t a, diopiConstTensorHandle_t b, int64_t dim,
                          int logarithm) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  TRY(describe(out, &arguments.tensors[0]));
  TRY(describe(a, &arguments.tensors[1]));
  TRY(describe(b, &arguments.tensors[2]));
  TRY(floats(&arguments, 3));
  arguments.integers[0] = dim < 0 ? dim + arguments.tensors[1].ndim : dim;
  arguments.integers[1] = logarithm;
  return run(ctx, kernel, &arguments, 3);
}

diopiError_t diopiSoftmax(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                          diopiConstTensorHandle_t input, int64_t dim) {
  return along(ctx, softmax_kernel, out, input, NULL, dim, 0);
}

diopiError_t diopiLogSoftmax(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                             diopiConstTensorHandle_t input, int64_t dim) {
  return along(ctx, softmax_kernel, out, input, NULL, dim, 1);
}

diopiError_t diopiSoftmaxBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                                  diopiConstTensorHandle_t grad_output,
                                  diopiConstTensorHandle_t output, int64_t dim) {
  return along(ctx, softmax_backward_kernel, grad_input, grad_output, output, dim, 0);
}

diopiError_t diopiLogSoftmaxBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                                     diopiConstTensorHandle_t grad_output,
                                     diopiConstTensorHandle_t output, int64_t dim) {
  return along(ctx, softmax_backward_kernel, grad_input, grad_output, output, dim, 1);
}

/* Layer normalization: rows of `n` elements at the end of the shape. */

static void layer_norm_kernel(const Arguments* arguments, char* const* memory) {
  const View* t = arguments->tensors; /* out, save_mean, save_invstd, input, weight, bias */
  const int64_t n = arguments->integers[0], rows = n == 0 ? 0 : t[3].numel / n;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += load(&t[3], memory[3], position(&t[3], row * n + i));
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; ++i) {
      const double x = load(&t[3], memory[3], position(&t[3], row * n + i)) - mean;
      squares += x * x;
    }
    const double inverse = 1 / sqrt(squares / (double)n + arguments->numbers[0]);
    store(&t[1], memory[1], position(&t[1], row), mean);
    store(&t[2], memory[2], position(&t[2], row), inverse);
    for (int64_t i = 0; i < n; ++i) {
      double x = (load(&t[3], memory[3], position(&t[3], row * n + i)) - mean) * inverse;
      if (memory[4] != NULL) x *= load(&t[4], memory[4], position(&t[4], i));
      if (memory[5] != NULL) x += load(&t[5], memory[5], position(&t[5], i));
      store(&t[0], memory[0], position(&t[0], row * n + i), x);
    }
  }
}

static int64_t product_of(diopiSize_t size) {
  int64_t product = 1;
  for (int64_t i = 0; i < size.len; ++i) product *= size.data[i];
  return product;
}

diopiError_t diopiLayerNorm(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiTensorHandle_t save_mean, diopiTensorHandle_t save_invstd,
                            diopiConstTensorHandle_t input, diopiConstTensorHandle_t weight,
                            diopiConstTensorHandle_t bias, diopiSize_t normalized_shape,
                            double eps) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  const diopiConstTensorHandle_t given[] = {out, save_mean, save_invstd, input, weight, bias};
  for (int i = 0; i < 6; ++i) TRY(describe(given[i], &arguments.tensors[i]));
  TRY(floats(&arguments, 6));
  arguments.integers[0] = product_of(normalized_shape);
  arguments.numbers[0] = eps;
  return run(ctx, layer_norm_kernel, &arguments, 6);
}

static void layer_norm_backward_kernel(const Arguments* arguments, char* const* memory) {
  /* grad_input, grad_weight, grad_bias, grad_output, input, weight, mean, rstd */
  const View* t = arguments->tensors;
  const int64_t n = arguments->integers[0], rows = n == 0 ? 0 : t[4].numel / n;
  for (int64_t i = 0; i < n; ++i) {
    double by_weight = 0, by_bias = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const double g = load(&t[3], memory[3], position(&t[3], row * n + i));
      const double x = (load(&t[4], memory[4], position(&t[4], row * n + i)) -
                        load(&t[6], memory[6], position(&t[6], row))) *
                       load(&t[7], memory[7], position(&t[7], row));
      by_weight += g * x;
      by_bias += g;
    }
    if (memory[1] != NULL) store(&t[1], memory[1], position(&t[1], i), by_weight);
    if (memory[2] != NULL) store(&t[2], memory[2], position(&t[2], i), by_bias);
  }
  for (int64_t row = 0; memory[0] != NULL && row < rows; ++row) {
    const double mean = load(&t[6], memory[6], position(&t[6], row));
    const double inverse = load(&t[7], memory[7], position(&t[7], row));
    double sum = 0, with_x = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t index = row * n + i;
        double g = load(&t[3], memory[3], position(&t[3], index));
        const double x = (load(&t[4], memory[4], position(&t[4], index)) - mean) * inverse;
        if (memory[5] != NULL) g *= load(&t[5], memory[5], position(&t[5], i));
        if (pass == 0) {
          sum += g / (double)n;
          with_x += g * x / (double)n;
        } else {
          store(&t[0], memory[0], position(&t[0], index), (g - sum - x * with_x) * inverse);
        }
      }
    }
  }
}

diopiError_t diopiLayerNormBackward(diopiContextHandle_t ctx, diopiTensorHandle_t grad_input,
                                    diopiTensorHandle_t grad_weight, diopiTensorHandle_t grad_bias,
                                    diopiConstTensorHandle_t grad_output,
                                    diopiConstTensorHandle_t input, diopiConstTensorHandle_t weight,
                                    diopiConstTensorHandle_t bias, diopiConstTensorHandle_t mean,
                                    diopiConstTensorHandle_t rstd, diopiSize_t normalized_shape) {
  Arguments arguments;
  (void)bias;
  if (rstd == NULL) return decline("the inverse standard deviation is needed");
  memset(&arguments, 0, sizeof arguments);
  const diopiConstTensorHandle_t given[] = {grad_input, grad_weight, grad_bias, grad_output,
                                            input,      weight,      mean,      rstd};
  for (int i = 0; i < 8; ++i) TRY(describe(given[i], &arguments.tensors[i]));
  TRY(floats(&arguments, 8));
  arguments.integers[0] = product_of(normalized_shape);
  return run(ctx, layer_norm_backward_kernel, &arguments, 8);
}

/* Embeddings. Invalid indices are a fault of the device. */

static void embedding_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *weight = &arguments->tensors[1];
  const View* indices = &arguments->tensors[2];
  const int64_t d = weight->sizes[1];
  for (int64_t i = 0; i < indices->numel; ++i) {
    const int64_t row = (int64_t)load(indices, memory[2], position(indices, i));
    if (row < 0 || row >= weight->sizes[0]) continue;
    for (int64_t j = 0; j < d; ++j)
      store(out, memory[0], position(out, i * d + j),
            load(weight, memory[1], row * weight->strides[0] + j * weight->strides[1]));
  }
}

static void embedding_backward_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *grad = &arguments->tensors[1];
  const View* indices = &arguments->tensors[2];
  const int64_t d = out->sizes[1];
  for (int64_t row = 0; row < out->sizes[0]; ++row) {
    for (int64_t j = 0; j < d; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < indices->numel && row != arguments->integers[0]; ++i)
        if ((int64_t)load(indices, memory[2], position(indices, i)) == row)
          sum += load(grad, memory[1], position(grad, i * d + j));
      store(out, memory[0], row * out->strides[0] + j * out->strides[1], sum);
    }
  }
}

static diopiError_t lookup(diopiContextHandle_t ctx, Kernel kernel, diopiTensorHandle_t out,
                           diopiConstTensorHandle_t a, diopiConstTensorHandle_t indices,
                           int64_t padding) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  TRY(describe(out, &arguments.tensors[0]));
  TRY(describe(a, &arguments.tensors[1]));
  TRY(describe(indices, &arguments.tensors[2]));
  TRY(floats(&arguments, 2));
  arguments.integers[0] = padding;
  return run(ctx, kernel, &arguments, 3);
}

diopiError_t diopiEmbedding(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                            diopiConstTensorHandle_t weight, diopiConstTensorHandle_t indices,
                            int64_t padding_idx, bool scale_grad_byfreq, bool sparse) {
  (void)padding_idx, (void)scale_grad_byfreq, (void)sparse;
  return lookup(ctx, embedding_kernel, out, weight, indices, -1);
}

diopiError_t diopiEmbeddingBackward(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                                    diopiConstTensorHandle_t grad, diopiConstTensorHandle_t indices,
                                    int64_t num_weights, int64_t padding_idx,
                                    bool scale_grad_byfreq, bool sparse) {
  (void)num_weights;
  if (scale_grad_byfreq || sparse) return decline("gradients are dense and not scaled");
  return lookup(ctx, embedding_backward_kernel, out, grad, indices, padding_idx);
}

/* Sums over dimensions: integers[0] is a mask of them, integers[1] 1 for means. */

static void sum_kernel(const Arguments* arguments, char* const* memory) {
  const View *out = &arguments->tensors[0], *input = &arguments->tensors[1];
  View kept = *input, reduced = *input;
  kept.numel = reduced.numel = 1;
  for (int64_t d = 0; d < input->ndim; ++d) {
    const int gone = arguments->integers[0] >> d & 1;
    kept.sizes[d] = gone ? 1 : input->sizes[d];
    reduced.sizes[d] = gone ? input->sizes[d] : 1;
    kept.numel *= kept.sizes[d];
    reduced.numel *= reduced.sizes[d];
  }
  for (int64_t i = 0; i < kept.numel; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < reduced.numel; ++j)
      sum += load(input, memory[1], position(&kept, i) + position(&reduced, j));
    store(out, memory[0], position(out, i),
          arguments->integers[1] ? sum / (double)reduced.numel : sum);
  }
}

static diopiError_t reduce(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                           diopiConstTensorHandle_t input, diopiSize_t dim, int mean) {
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  TRY(describe(out, &arguments.tensors[0]));
  TRY(describe(input, &arguments.tensors[1]));
  TRY(floats(&arguments, 2));
  const int64_t ndim = arguments.tensors[1].ndim;
  for (int64_t i = 0; i < dim.len; ++i)
    arguments.integers[0] |= INT64_C(1) << (dim.data[i] < 0 ? dim.data[i] + ndim : dim.data[i]);
  if (dim.len == 0) arguments.integers[0] = (INT64_C(1) << ndim) - 1;
  arguments.integers[1] = mean;
  return run(ctx, sum_kernel, &arguments, 2);
}

diopiError_t diopiSum(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiSize_t dim) {
  return reduce(ctx, out, input, dim, 0);
}

diopiError_t diopiMean(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input, diopiSize_t dim) {
  return reduce(ctx, out, input, dim, 1);
}

/* Concatenation: one copy for each part, into a view of the result. */

diopiError_t diopiCat(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t* tensors, int64_t num_inputs, int64_t dim) {
  View whole;
  TRY(describe(out, &whole));
  if (dim < 0) dim += whole.ndim;
  Arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  for (int64_t i = 0; i < num_inputs; ++i) {
    TRY(describe(tensors[i], &arguments.tensors[1]));
    if (arguments.tensors[1].dtype != whole.dtype) return decline_dtype("dtypes differ");
  }
  const char* at = whole.data;
  const int64_t bytes = whole.dtype == diopi_dtype_bool    ? 1
                        : whole.dtype == diopi_dtype_int64 ? 8
                                                           : 4;
  for (int64_t i = 0; i < num_inputs; ++i) {
    TRY(describe(tensors[i], &arguments.tensors[1]));
    if (arguments.tensors[1].numel == 0) continue;
    arguments.tensors[0] = whole;
    arguments.tensors[0].data = at;
    arguments.tensors[0].sizes[dim] = arguments.tensors[1].sizes[dim];
    arguments.tensors[0].numel = arguments.tensors[1].numel;
    TRY(run(ctx, copy_kernel, &arguments, 2));
    at += arguments.tensors[1].sizes[dim] * whole.strides[dim] * bytes;
  }
  return diopiSuccess;
}
