/* Calls of kernels on the simulated device, for the operators in this folder. */
#ifndef LEGACY_DEVICE_KERNELS_H_
#define LEGACY_DEVICE_KERNELS_H_

#define DIOPI_EXPORT_SYMBOLS
#define DIOPIRT_EXTERN
#include "diopi/diopirt.h"
#include "diopi/functions.h"
#include "sim.h"

enum { kMostDims = 6, kMostTensors = 12 };

/* A tensor on the device. A kernel gets copies, because handles end with the call. */
typedef struct {
  const void* data; /* NULL: absent or empty */
  int64_t numel;
  int64_t ndim;
  int64_t sizes[kMostDims];
  int64_t strides[kMostDims];
  int32_t dtype;
} View;

typedef struct {
  View tensors[kMostTensors];
  double numbers[4];
  int64_t integers[4];
} Arguments;

/* A kernel computes on `memory`, the memory of each tensor as its code can access it. */
typedef void (*Kernel)(const Arguments* arguments, char* const* memory);

/* Describes a tensor; NULL gives an absent one. Fails, with a message, for a dtype or a number of
 * dimensions that the kernels do not support. */
diopiError_t describe(diopiConstTensorHandle_t tensor, View* view);
/* Gives a view the sizes of `like`, to which it broadcasts. */
void expand(View* view, const View* like);
/* Position of an element in elements, by its row-major index. */
int64_t position(const View* view, int64_t index);
double load(const View* view, const char* memory, int64_t position);
void store(const View* view, char* memory, int64_t position, double value);
/* Enqueues a kernel with `count` tensors on the stream of the context. */
diopiError_t run(diopiContextHandle_t ctx, Kernel kernel, const Arguments* arguments, int count);
/* Sets the message that diopiGetLastErrorString returns. */
diopiError_t decline(const char* reason);
diopiError_t decline_dtype(const char* reason);
double number(const diopiScalar_t* scalar);

#define TRY(call)                            \
  do {                                       \
    const diopiError_t tried = (call);       \
    if (tried != diopiSuccess) return tried; \
  } while (0)

#endif
