#include "kernels.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  Kernel kernel;
  int count;
  Arguments arguments;
} Launch;

static _Thread_local char message[128];

const char* diopiGetVendorName(void) { return "simulated-diopi"; }
const char* diopiGetImplVersion(void) { return "0.3"; }
const char* diopiGetLastErrorString(void) { return message; }

diopiError_t decline(const char* reason) {
  snprintf(message, sizeof message, "%s", reason);
  return diopiNoImplement;
}

diopiError_t decline_dtype(const char* reason) {
  snprintf(message, sizeof message, "%s", reason);
  return diopiDtypeNotSupported;
}

static int64_t item(int32_t dtype) {
  switch (dtype) {
    case diopi_dtype_float32:
      return 4;
    case diopi_dtype_int64:
      return 8;
    case diopi_dtype_bool:
      return 1;
    default:
      return 0;
  }
}

diopiError_t describe(diopiConstTensorHandle_t tensor, View* view) {
  diopiSize_t size, stride;
  diopiDtype_t dtype;
  message[0] = '\0';
  memset(view, 0, sizeof *view);
  if (tensor == NULL) return diopiSuccess;
  TRY(diopiGetTensorDtype(tensor, &dtype));
  TRY(diopiGetTensorShape(tensor, &size));
  TRY(diopiGetTensorStride(tensor, &stride));
  TRY(diopiGetTensorNumel(tensor, &view->numel));
  TRY(diopiGetTensorDataConst(tensor, &view->data));
  if (item(dtype) == 0) return decline_dtype("only float32, int64 and bool are supported");
  if (size.len > kMostDims) return decline("tensors have at most 6 dimensions");
  view->dtype = dtype;
  view->ndim = size.len;
  memcpy(view->sizes, size.data, (size_t)size.len * sizeof(int64_t));
  memcpy(view->strides, stride.data, (size_t)size.len * sizeof(int64_t));
  return diopiSuccess;
}

void expand(View* view, const View* like) {
  View made = *like;
  const int64_t missing = like->ndim - view->ndim;
  made.data = view->data;
  made.dtype = view->dtype;
  for (int64_t d = 0; d < like->ndim; ++d) {
    const int64_t from = d - missing;
    made.strides[d] = from < 0 || view->sizes[from] == 1 ? 0 : view->strides[from];
  }
  *view = made;
}

int64_t position(const View* view, int64_t index) {
  int64_t result = 0;
  for (int64_t d = view->ndim; d-- > 0; index /= view->sizes[d])
    result += index % view->sizes[d] * view->strides[d];
  return result;
}

double load(const View* view, const char* memory, int64_t place) {
  const char* at = memory + place * item(view->dtype);
  if (view->dtype == diopi_dtype_float32) return *(const float*)at;
  if (view->dtype == diopi_dtype_int64) return (double)*(const int64_t*)at;
  return *at != 0;
}

void store(const View* view, char* memory, int64_t place, double value) {
  char* at = memory + place * item(view->dtype);
  if (view->dtype == diopi_dtype_float32) {
    *(float*)at = (float)value;
  } else if (view->dtype == diopi_dtype_int64) {
    *(int64_t*)at = (int64_t)value;
  } else {
    *at = value != 0;
  }
}

static size_t extent(const View* view) {
  int64_t last = 0;
  for (int64_t d = 0; d < view->ndim; ++d) last += (view->sizes[d] - 1) * view->strides[d];
  return (size_t)((last + 1) * item(view->dtype));
}

static void on_device(const void* given, simMemory_t memory) {
  const Launch* launch = given;
  char* places[kMostTensors] = {NULL};
  for (int i = 0; i < launch->count; ++i) {
    const View* view = &launch->arguments.tensors[i];
    if (view->data == NULL || view->numel == 0) continue;
    places[i] = memory(view->data, extent(view));
    if (places[i] == NULL) return; /* the simulated device has noted the fault */
  }
  launch->kernel(&launch->arguments, places);
}

diopiError_t run(diopiContextHandle_t ctx, Kernel kernel, const Arguments* arguments, int count) {
  Launch launch = {kernel, count, *arguments};
  diopiStreamHandle_t stream = NULL;
  TRY(diopiGetStream(ctx, &stream));
  const simError_t error = simLaunch(on_device, &launch, sizeof launch, (simStream_t)stream);
  if (error == simSuccess) return diopiSuccess;
  snprintf(message, sizeof message, "simLaunch: %s", simGetErrorString(error));
  return diopiErrorOccurred;
}

double number(const diopiScalar_t* scalar) {
  return scalar->stype <= diopi_dtype_int64 || scalar->stype == diopi_dtype_bool
             ? (double)scalar->ival
             : scalar->fval;
}
