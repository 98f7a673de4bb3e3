/* A library with DIOPI symbols in plain C: three operators for float32 with any strides. */
#define DIOPI_EXPORT_SYMBOLS
#define DIOPIRT_EXTERN
#include "diopi/diopirt.h"
#include "diopi/functions.h"

#define MAX_DIMENSIONS 8

/* Defined in the library that --runtime names, or in this one. */
#ifdef NEEDS_RUNTIME
float runtime_negated(float x);
#else
static float runtime_negated(float x) { return -x; }
#endif

const char* diopiGetVendorName(void) { return "bare"; }
const char* diopiGetImplVersion(void) { return "1"; }

typedef struct {
  float* data;
  diopiSize_t shape, stride;
} View;

static diopiError_t view(diopiConstTensorHandle_t tensor, View* out) {
  diopiDtype_t dtype;
  const void* memory = NULL;
  diopiGetTensorDtype(tensor, &dtype);
  diopiGetTensorShape(tensor, &out->shape);
  diopiGetTensorStride(tensor, &out->stride);
  diopiGetTensorDataConst(tensor, &memory);
  out->data = (float*)memory;
  if (out->shape.len > MAX_DIMENSIONS) return diopiNoImplement;
  return dtype == diopi_dtype_float32 ? diopiSuccess : diopiDtypeNotSupported;
}

/* View a tensor that must broadcast to `of`; decline others. */
static diopiError_t view_in(diopiConstTensorHandle_t tensor, const View* of, View* out) {
  diopiError_t code = view(tensor, out);
  int64_t missing = of->shape.len - out->shape.len;
  if (code != diopiSuccess) return code;
  if (missing < 0) return diopiNoImplement;
  for (int64_t d = 0; d < out->shape.len; ++d)
    if (out->shape.data[d] != 1 && out->shape.data[d] != of->shape.data[d + missing])
      return diopiNoImplement;
  return diopiSuccess;
}

/* Return the element with an index of `of` in a tensor that broadcasts to `of`. */
static float* element(const View* tensor, const View* of, int64_t index) {
  int64_t offset = 0;
  int64_t missing = of->shape.len - tensor->shape.len;
  for (int64_t d = of->shape.len - 1; d >= missing; --d) {
    int64_t at = index % of->shape.data[d];
    index /= of->shape.data[d];
    if (tensor->shape.data[d - missing] != 1) offset += at * tensor->stride.data[d - missing];
  }
  return tensor->data + offset;
}

static int64_t count(const View* tensor) {
  int64_t total = 1;
  for (int64_t d = 0; d < tensor->shape.len; ++d) total *= tensor->shape.data[d];
  return total;
}

diopiError_t diopiNeg(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  View o, x;
  (void)ctx;
  diopiError_t code = view(out, &o);
  if (code == diopiSuccess) code = view_in(input, &o, &x);
  if (code != diopiSuccess) return code;
  for (int64_t i = 0, n = count(&o); i < n; ++i)
    *element(&o, &o, i) = runtime_negated(*element(&x, &o, i));
  return diopiSuccess;
}

diopiError_t diopiRelu(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                       diopiConstTensorHandle_t input) {
  View o, x;
  (void)ctx;
  diopiError_t code = view(out, &o);
  if (code == diopiSuccess) code = view_in(input, &o, &x);
  if (code != diopiSuccess) return code;
  for (int64_t i = 0, n = count(&o); i < n; ++i) {
    float value = *element(&x, &o, i);
    *element(&o, &o, i) = value < 0 ? 0 : value;
  }
  return diopiSuccess;
}

diopiError_t diopiMul(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input, diopiConstTensorHandle_t other) {
  View o, x, y;
  (void)ctx;
  diopiError_t code = view(out, &o);
  if (code == diopiSuccess) code = view_in(input, &o, &x);
  if (code == diopiSuccess) code = view_in(other, &o, &y);
  if (code != diopiSuccess) return code;
  for (int64_t i = 0, n = count(&o); i < n; ++i)
    *element(&o, &o, i) = *element(&x, &o, i) * *element(&y, &o, i);
  return diopiSuccess;
}
