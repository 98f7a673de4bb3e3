/* A library with DIOPI symbols and seven operators: one is right, six misbehave. */
#define DIOPI_EXPORT_SYMBOLS
#define DIOPIRT_EXTERN
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "diopi/diopirt.h"
#include "diopi/functions.h"

const char* diopiGetVendorName(void) { return "isolation"; }
const char* diopiGetImplVersion(void) { return "1"; }

static diopiError_t floats(diopiConstTensorHandle_t tensor, const float** data, int64_t* numel) {
  diopiDtype_t dtype;
  const void* memory = NULL;
  if (diopiGetTensorDtype(tensor, &dtype) != diopiSuccess) return diopiErrorOccurred;
  if (dtype != diopi_dtype_float32) return diopiDtypeNotSupported;
  if (diopiGetTensorDataConst(tensor, &memory) != diopiSuccess) return diopiErrorOccurred;
  *data = memory;
  return diopiGetTensorNumel(tensor, numel);
}

/* A right operator, for contiguous tensors. */
diopiError_t diopiAbs(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  const float *from = NULL, *to = NULL;
  int64_t numel = 0;
  (void)ctx;
  diopiError_t code = floats(input, &from, &numel);
  if (code == diopiSuccess) code = floats(out, &to, &numel);
  if (code != diopiSuccess) return code;
  for (int64_t i = 0; i < numel; ++i) ((float*)to)[i] = from[i] < 0 ? -from[i] : from[i];
  return diopiSuccess;
}

/* A segmentation fault. */
diopiError_t diopiSin(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  (void)ctx, (void)out, (void)input;
  *(volatile int*)8 = 1;
  return diopiSuccess;
}

/* Never returns. */
diopiError_t diopiCos(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  (void)ctx, (void)out, (void)input;
  for (volatile int forever = 1; forever;) continue;
  return diopiSuccess;
}

/* An abort, as after an uncaught exception. */
diopiError_t diopiTan(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  (void)ctx, (void)out, (void)input;
  abort();
}

/* A write past the end. */
diopiError_t diopiFloor(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                        diopiConstTensorHandle_t input) {
  const float *from = NULL, *to = NULL;
  int64_t numel = 0;
  (void)ctx;
  diopiError_t code = floats(input, &from, &numel);
  if (code == diopiSuccess) code = floats(out, &to, &numel);
  if (code != diopiSuccess) return code;
  for (int64_t i = 0; i <= numel; ++i) ((float*)to)[i] = 1;
  return diopiSuccess;
}

/* A signal that has no name. */
diopiError_t diopiExp(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  (void)ctx, (void)out, (void)input;
  raise(SIGRTMIN + 5);
  return diopiSuccess;
}

/* A forged outcome of another case, written to every open file. */
diopiError_t diopiLog(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                      diopiConstTensorHandle_t input) {
  (void)ctx, (void)out, (void)input;
  for (int file = 3; file < 64; ++file)
    dprintf(file,
            "{\"name\": \"diopiAbs[float32-7]\", \"operator\": \"diopiAbs\", "
            "\"dtype\": \"float32\", \"status\": \"passed\"}\n");
  return diopiSuccess;
}
