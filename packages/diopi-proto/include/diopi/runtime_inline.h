/* Definitions of the functions that diopi/diopirt.h declares; included from there only.
 *
 * They read the structs of dl/handles.h. A handle is valid if it begins with its magic number and
 * a version that is not older than this header; for any other they return diopiErrorOccurred. */
#ifndef DIOPI_RUNTIME_INLINE_H_
#define DIOPI_RUNTIME_INLINE_H_

#ifndef DIOPI_DIOPIRT_H_
#error "include diopi/diopirt.h instead"
#endif

#include "dl/dtype.h"

DL_EXTERN_C_BEGIN

/* The context of the operator that runs on this thread. dl/operator.hpp defines and sets it. A
 * vendor in C that calls a function without a context argument writes DL_DEFINE_CURRENT_CONTEXT in
 * one source file and sets the variable around each operator. The symbol is hidden, so that each
 * library has its own variable. */
extern __attribute__((visibility("hidden"))) __thread diopiContextHandle_t dl_current_context;

#ifndef DL_DEFINE_CURRENT_CONTEXT
#define DL_DEFINE_CURRENT_CONTEXT __thread diopiContextHandle_t dl_current_context
#endif

#ifdef DIOPIRT_IMPLEMENT
/* Sets the context that functions without a context argument use on this thread, and returns the
 * previous one, so that a host can nest calls. NULL outside operators. */
DL_EXPORT diopiContextHandle_t diopirt_set_current_context(diopiContextHandle_t ctx);
#endif

/* Each returns the handle's prefix, or NULL for an invalid handle. */
static inline const dl_tensor_prefix_t* diopirt_tensor(diopiConstTensorHandle_t handle) {
  const dl_tensor_prefix_t* tensor = (const dl_tensor_prefix_t*)handle;
  return tensor != NULL && tensor->magic == DL_TENSOR_MAGIC && tensor->version >= DL_PREFIX_VERSION
             ? tensor
             : NULL;
}

static inline const dl_context_prefix_t* diopirt_context(diopiContextHandle_t handle) {
  const dl_context_prefix_t* context = (const dl_context_prefix_t*)handle;
  return context != NULL && context->magic == DL_CONTEXT_MAGIC &&
                 context->version >= DL_PREFIX_VERSION
             ? context
             : NULL;
}

static inline const dl_generator_prefix_t* diopirt_generator(diopiConstGeneratorHandle_t handle) {
  const dl_generator_prefix_t* generator = (const dl_generator_prefix_t*)handle;
  return generator != NULL && generator->magic == DL_GENERATOR_MAGIC &&
                 generator->version >= DL_PREFIX_VERSION
             ? generator
             : NULL;
}

/* Returns diopiErrorOccurred from the calling function if `handle` is invalid. */
#define DIOPIRT_OPEN(kind, variable, handle)                     \
  const dl_##kind##_prefix_t* variable = diopirt_##kind(handle); \
  if (variable == NULL) return diopiErrorOccurred

/* Returns diopiNoImplement from the calling function if the host does not provide this slot. */
#define DIOPIRT_NEED(ops, slot) \
  if (!DL_HAS_FIELD(ops, dl_handle_ops_t, slot) || (ops)->slot == NULL) return diopiNoImplement

DIOPI_RT_API const char* diopiGetVersion(void) { return DIOPI_VERSION_STRING; }

DIOPI_RT_API diopiError_t diopiGetTensorData(diopiTensorHandle_t th, void** data) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *data = tensor->data;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorDataConst(diopiConstTensorHandle_t th, const void** data) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *data = tensor->data;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorShape(diopiConstTensorHandle_t th, diopiSize_t* size) {
  DIOPIRT_OPEN(tensor, tensor, th);
  size->data = tensor->sizes;
  size->len = tensor->ndim;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorStride(diopiConstTensorHandle_t th, diopiSize_t* stride) {
  DIOPIRT_OPEN(tensor, tensor, th);
  stride->data = tensor->strides;
  stride->len = tensor->ndim;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorDtype(diopiConstTensorHandle_t th, diopiDtype_t* dtype) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *dtype = (diopiDtype_t)tensor->dtype;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorDevice(diopiConstTensorHandle_t th, diopiDevice_t* device) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *device = (diopiDevice_t)tensor->device;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorNumel(diopiConstTensorHandle_t th, int64_t* numel) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *numel = tensor->numel;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorElemSize(diopiConstTensorHandle_t th, int64_t* itemsize) {
  DIOPIRT_OPEN(tensor, tensor, th);
  if (dl_dtype_bytes(tensor->dtype) == 0) return diopiErrorOccurred;
  *itemsize = dl_dtype_bytes(tensor->dtype);
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorStoragePtr(diopiConstTensorHandle_t th,
                                                   void** pStoragePtr) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *pStoragePtr = tensor->storage;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorStorageOffset(diopiConstTensorHandle_t th,
                                                      int64_t* pOffset) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *pOffset = tensor->storage_offset;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorStorageNbytes(diopiConstTensorHandle_t th,
                                                      size_t* pNbytes) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *pNbytes = (size_t)tensor->storage_bytes;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorDeviceIndex(diopiConstTensorHandle_t th,
                                                    diopiDeviceIndex_t* pDevIndex) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *pDevIndex = (diopiDeviceIndex_t)tensor->device_index;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorCrowIndices(diopiConstTensorHandle_t th,
                                                    diopiConstTensorHandle_t* crow_indices) {
  DIOPIRT_OPEN(tensor, tensor, th);
  if (!(tensor->flags & DL_TENSOR_SPARSE_CSR)) return diopiErrorOccurred;
  *crow_indices = (diopiConstTensorHandle_t)tensor->crow_indices;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorColIndices(diopiConstTensorHandle_t th,
                                                   diopiConstTensorHandle_t* col_indices) {
  DIOPIRT_OPEN(tensor, tensor, th);
  if (!(tensor->flags & DL_TENSOR_SPARSE_CSR)) return diopiErrorOccurred;
  *col_indices = (diopiConstTensorHandle_t)tensor->col_indices;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetTensorValues(diopiConstTensorHandle_t th,
                                               diopiConstTensorHandle_t* values) {
  DIOPIRT_OPEN(tensor, tensor, th);
  if (!(tensor->flags & DL_TENSOR_SPARSE_CSR)) return diopiErrorOccurred;
  *values = (diopiConstTensorHandle_t)tensor->values;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiIsTensorSparse(diopiConstTensorHandle_t th, bool* is_sparse) {
  DIOPIRT_OPEN(tensor, tensor, th);
  *is_sparse = (tensor->flags & DL_TENSOR_SPARSE_CSR) != 0;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetCurrentDeviceIndex(diopiDeviceIndex_t* pDevIndex) {
  DIOPIRT_OPEN(context, context, dl_current_context);
  *pDevIndex = (diopiDeviceIndex_t)context->device_index;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGetStream(diopiContextHandle_t ctx, diopiStreamHandle_t* stream) {
  DIOPIRT_OPEN(context, context, ctx);
  *stream = context->stream;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiRequireTensor(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                             const diopiSize_t* size, const diopiSize_t* stride,
                                             const diopiDtype_t dtype, const diopiDevice_t device) {
  DIOPIRT_OPEN(context, context, ctx);
  DIOPIRT_NEED(context->ops, require_tensor);
  return context->ops->require_tensor(ctx, tensor, size, stride, dtype, device);
}

DIOPI_RT_API diopiError_t diopiRequireBuffer(diopiContextHandle_t ctx, diopiTensorHandle_t* tensor,
                                             int64_t num_bytes, diopiDevice_t device) {
  DIOPIRT_OPEN(context, context, ctx);
  DIOPIRT_NEED(context->ops, require_buffer);
  return context->ops->require_buffer(ctx, tensor, num_bytes, device);
}

DIOPI_RT_API diopiError_t diopiGeneratorGetState(diopiContextHandle_t ctx,
                                                 diopiConstGeneratorHandle_t th,
                                                 diopiTensorHandle_t* data) {
  DIOPIRT_OPEN(generator, generator, th);
  DIOPIRT_NEED(generator->ops, generator_get_state);
  return generator->ops->generator_get_state(ctx, th, data);
}

DIOPI_RT_API diopiError_t diopiGeneratorSetState(diopiGeneratorHandle_t th,
                                                 diopiConstTensorHandle_t state) {
  DIOPIRT_OPEN(generator, generator, th);
  DIOPIRT_NEED(generator->ops, generator_set_state);
  return generator->ops->generator_set_state(th, state);
}

DIOPI_RT_API diopiError_t diopiGeneratorGetSeedAndOffset(diopiGeneratorHandle_t th,
                                                         uint64_t* ptrSeed, uint64_t* ptrOffset) {
  DIOPIRT_OPEN(generator, generator, th);
  *ptrSeed = generator->seed;
  *ptrOffset = generator->offset;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiGeneratorSetSeedAndOffset(diopiGeneratorHandle_t th, uint64_t seed,
                                                         uint64_t offset) {
  if (diopirt_generator(th) == NULL) return diopiErrorOccurred;
  dl_generator_prefix_t* generator = (dl_generator_prefix_t*)th;
  generator->seed = seed;
  generator->offset = offset;
  return diopiSuccess;
}

DIOPI_RT_API diopiError_t diopiRecordStart(const char* record_name, void** record) {
  DIOPIRT_OPEN(context, context, dl_current_context);
  DIOPIRT_NEED(context->ops, record_start);
  return context->ops->record_start(dl_current_context, record_name, record);
}

DIOPI_RT_API diopiError_t diopiRecordEnd(void** record) {
  DIOPIRT_OPEN(context, context, dl_current_context);
  DIOPIRT_NEED(context->ops, record_end);
  return context->ops->record_end(dl_current_context, record);
}

#undef DIOPIRT_OPEN
#undef DIOPIRT_NEED

DL_EXTERN_C_END

#endif
