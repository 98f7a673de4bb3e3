/* What an operator can learn of its call from the context that it gets. */
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

/* The instance whose operator runs: what dl_vendor_v1 made, with the vendor's own fields. NULL for
 * a bad handle, and in a library in DIOPI's own convention. */
static inline dl_vendor_t* dl_context_vendor(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->vendor;
}

/* The host that calls. NULL for a bad handle. */
static inline const dl_host_t* dl_context_host(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->host;
}

/* The vendor's number of the device. -1 for a bad handle. */
static inline int32_t dl_context_device(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? -1 : context->device_index;
}

/* The stream that work is enqueued on, as stream_create returned it; NULL is the default stream of
 * dl_context_device, and what a bad handle gives. */
static inline void* dl_context_stream(diopiContextHandle_t ctx) {
  const dl_context_prefix_t* context = dl_context_prefix(ctx);
  return context == NULL ? NULL : context->stream;
}

/* Where work that this operator enqueues leaves an error in its data: the error word of the stream,
 * in memory of the device, and dl/device_error.h says how it is written. NULL for a bad handle and
 * from a host that has none: then the operator checks, waits if it has to, and fails at once. */
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
