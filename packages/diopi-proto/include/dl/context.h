/* Getters for an operator's context: the vendor instance, host, device, stream and error word. */
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

DL_EXTERN_C_END
#endif
