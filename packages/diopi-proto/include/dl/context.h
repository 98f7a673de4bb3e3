/* Getters for an operator's context: the vendor instance, host, device, stream, error word, and the
 * settings of the user. */
#ifndef DL_CONTEXT_H_
#define DL_CONTEXT_H_

#include "dl/handles.h"
#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* NULL for a handle that does not begin with its prefix. */
static inline const dl_context_prefix_t* dl_context_prefix(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = (const dl_context_prefix_t*)ctx;
  return context != NULL && context->magic == DL_CONTEXT_MAGIC &&
                 context->version >= DL_PREFIX_VERSION
             ? context
             : NULL;
}

/* The instance whose operator runs, as created by dl_vendor_v1, with the vendor's own fields. NULL
 * for an invalid handle, and in a library that follows DIOPI's own convention. */
static inline dl_vendor_t* dl_context_vendor(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->vendor;
}

/* The calling host. NULL for an invalid handle. */
static inline const dl_host_t* dl_context_host(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->host;
}

/* The device index in the vendor's numbering. -1 for an invalid handle. */
static inline int32_t dl_context_device(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? -1 : context->device_index;
}

/* The stream on which work is enqueued, as returned by stream_create. NULL for the default stream
 * of dl_context_device, and for an invalid handle. */
static inline void* dl_context_stream(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->stream;
}

/* The error word of the stream, in device memory: enqueued work reports an error in its data there
 * (see dl/device_error.h). NULL for an invalid handle and for a host without error words; the
 * operator then checks the data itself, waits if necessary, and fails at once. */
static inline dl_device_error_t* dl_context_device_error(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  dl_device_error_t* word = NULL;
  if (context == NULL || !DL_HAS_FIELD(context->ops, dl_handle_ops_t, device_error) ||
      context->ops->device_error == NULL ||
      context->ops->device_error(ctx, &word) != diopiSuccess) {
    return NULL;
  }
  return word;
}

/* The precision that the user requires of float32 matrix products. DL_MATMUL_FLOAT32 for an invalid
 * handle, for a host without the setting, and for unknown values. */
static inline dl_matmul_precision_t dl_context_matmul_precision(diopiContextHandle_t ctx) {
  const dl_host_t* host = dl_context_host(ctx);
  return DL_HAS_FIELD(host, dl_host_t, float32_matmul_precision) &&
                 host->float32_matmul_precision != NULL &&
                 host->float32_matmul_precision(host) == DL_MATMUL_TF32
             ? DL_MATMUL_TF32
             : DL_MATMUL_FLOAT32;
}

/* As dl_context_matmul_precision, for convolutions and their gradients. */
static inline dl_matmul_precision_t dl_context_convolution_precision(diopiContextHandle_t ctx) {
  const dl_host_t* host = dl_context_host(ctx);
  return DL_HAS_FIELD(host, dl_host_t, float32_convolution_precision) &&
                 host->float32_convolution_precision != NULL &&
                 host->float32_convolution_precision(host) == DL_MATMUL_TF32
             ? DL_MATMUL_TF32
             : DL_MATMUL_FLOAT32;
}

/* True if the user requests deterministic algorithms. False for an invalid handle, and for a host
 * without the setting. */
static inline bool dl_context_deterministic(diopiContextHandle_t ctx) {
  const dl_host_t* host = dl_context_host(ctx);
  return DL_HAS_FIELD(host, dl_host_t, deterministic) && host->deterministic != NULL &&
         host->deterministic(host) != 0;
}

DL_EXTERN_C_END
#endif
