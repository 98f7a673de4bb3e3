/* A minimal host of DIOPI: tensors, a context, a generator, and the runtime functions that a
 * library in DIOPI's own convention expects. Its structs differ from dl's handles. A program loads
 * it with RTLD_GLOBAL before the library. */
#include <stdlib.h>
#include <string.h>

#include "diopi/types.gen.h"

#define EXPORT __attribute__((visibility("default")))
#define MOST_DIMS 8

struct host_block {
  char* bytes;
  size_t count;
};

struct diopiTensor {
  int64_t rank;
  int64_t shape[MOST_DIMS], steps[MOST_DIMS];
  diopiDtype_t type;
  struct host_block block;
  int64_t first; /* element 0 in the block */
  struct diopiTensor* next;
};

struct diopiContext {
  struct diopiTensor* owned;
  int64_t required;
};

struct diopiGenerator {
  char padding[40];
  uint64_t offset, seed;
};

static int64_t item_size(diopiDtype_t type) {
  switch (type) {
    case diopi_dtype_int8:
    case diopi_dtype_uint8:
    case diopi_dtype_bool:
      return 1;
    case diopi_dtype_int16:
    case diopi_dtype_uint16:
    case diopi_dtype_float16:
    case diopi_dtype_bfloat16:
      return 2;
    case diopi_dtype_int32:
    case diopi_dtype_uint32:
    case diopi_dtype_float32:
      return 4;
    default:
      return 8;
  }
}

/* Functions that the driving program calls. */

EXPORT struct diopiContext* host_context(void) { return calloc(1, sizeof(struct diopiContext)); }

/* A tensor of zeros that the context owns; `strides` may be NULL for row-major. */
EXPORT struct diopiTensor* host_tensor(struct diopiContext* ctx, int32_t type, int64_t rank,
                                       const int64_t* sizes, const int64_t* strides) {
  struct diopiTensor* tensor = calloc(1, sizeof(*tensor));
  int64_t next = 1, last = 0;
  tensor->rank = rank;
  tensor->type = (diopiDtype_t)type;
  for (int64_t d = rank - 1; d >= 0; --d) {
    tensor->shape[d] = sizes[d];
    tensor->steps[d] = strides != NULL ? strides[d] : next;
    next *= sizes[d];
    last += sizes[d] > 0 ? (sizes[d] - 1) * tensor->steps[d] : 0;
  }
  tensor->block.count = (size_t)((last + 1) * item_size(tensor->type));
  tensor->block.bytes = calloc(1, tensor->block.count);
  tensor->next = ctx->owned;
  ctx->owned = tensor;
  return tensor;
}

EXPORT void* host_data(struct diopiTensor* tensor) { return tensor->block.bytes; }
EXPORT int64_t host_required(const struct diopiContext* ctx) { return ctx->required; }
EXPORT uint64_t host_offset(const struct diopiGenerator* generator) { return generator->offset; }

EXPORT struct diopiGenerator* host_generator(uint64_t seed) {
  struct diopiGenerator* generator = calloc(1, sizeof(*generator));
  generator->seed = seed;
  return generator;
}

EXPORT void host_close(struct diopiContext* ctx) {
  while (ctx->owned != NULL) {
    struct diopiTensor* tensor = ctx->owned;
    ctx->owned = tensor->next;
    free(tensor->block.bytes);
    free(tensor);
  }
  free(ctx);
}

/* Functions that the library calls. */

EXPORT diopiError_t diopiGetTensorData(diopiTensorHandle_t th, void** data) {
  *data = th->block.bytes + th->first * item_size(th->type);
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorDataConst(diopiConstTensorHandle_t th, const void** data) {
  *data = th->block.bytes + th->first * item_size(th->type);
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorShape(diopiConstTensorHandle_t th, diopiSize_t* size) {
  size->data = th->shape;
  size->len = th->rank;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorStride(diopiConstTensorHandle_t th, diopiSize_t* stride) {
  stride->data = th->steps;
  stride->len = th->rank;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorDtype(diopiConstTensorHandle_t th, diopiDtype_t* dtype) {
  *dtype = th->type;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorDevice(diopiConstTensorHandle_t th, diopiDevice_t* device) {
  (void)th;
  *device = diopi_device;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorNumel(diopiConstTensorHandle_t th, int64_t* numel) {
  *numel = 1;
  for (int64_t d = 0; d < th->rank; ++d) *numel *= th->shape[d];
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorElemSize(diopiConstTensorHandle_t th, int64_t* itemsize) {
  *itemsize = item_size(th->type);
  return diopiSuccess;
}

/* This host has no sparse tensors. */

EXPORT diopiError_t diopiIsTensorSparse(diopiConstTensorHandle_t th, bool* is_sparse) {
  (void)th;
  *is_sparse = false;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGetTensorCrowIndices(diopiConstTensorHandle_t th,
                                              diopiConstTensorHandle_t* crow_indices) {
  (void)th;
  (void)crow_indices;
  return diopiErrorOccurred;
}

EXPORT diopiError_t diopiGetTensorColIndices(diopiConstTensorHandle_t th,
                                             diopiConstTensorHandle_t* col_indices) {
  (void)th;
  (void)col_indices;
  return diopiErrorOccurred;
}

EXPORT diopiError_t diopiGetTensorValues(diopiConstTensorHandle_t th,
                                         diopiConstTensorHandle_t* values) {
  (void)th;
  (void)values;
  return diopiErrorOccurred;
}

EXPORT diopiError_t diopiGetStream(diopiContextHandle_t ctx, diopiStreamHandle_t* stream) {
  (void)ctx;
  *stream = NULL;
  return diopiSuccess;
}

EXPORT diopiError_t diopiRequireTensor(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                       const diopiSize_t* size, const diopiSize_t* stride,
                                       const diopiDtype_t dtype, const diopiDevice_t device) {
  (void)device;
  if (size->len > MOST_DIMS) return diopiErrorOccurred;
  *tensor =
      host_tensor(ctx, (int32_t)dtype, size->len, size->data, stride == NULL ? NULL : stride->data);
  ++ctx->required;
  return diopiSuccess;
}

EXPORT diopiError_t diopiRequireBuffer(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                       int64_t num_bytes, diopiDevice_t device) {
  const diopiSize_t size = {&num_bytes, 1};
  return diopiRequireTensor(ctx, tensor, &size, NULL, diopi_dtype_uint8, device);
}

EXPORT diopiError_t diopiGeneratorGetSeedAndOffset(diopiGeneratorHandle_t th, uint64_t* seed,
                                                   uint64_t* offset) {
  *seed = th->seed;
  *offset = th->offset;
  return diopiSuccess;
}

EXPORT diopiError_t diopiGeneratorSetSeedAndOffset(diopiGeneratorHandle_t th, uint64_t seed,
                                                   uint64_t offset) {
  th->seed = seed;
  th->offset = offset;
  return diopiSuccess;
}
