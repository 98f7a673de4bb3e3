/* The peer extension: devices of one vendor reach each other's memory, in one process or several.
 */
#ifndef DL_PEER_H_
#define DL_PEER_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Names memory, or an event, to other processes of the same user on the same machine. Plain bytes,
 * to be sent to them. */
typedef struct dl_peer_handle {
  uint8_t bytes[128];
} dl_peer_handle_t;

typedef struct dl_peer_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_PEER */
  dl_extension_t* next;

  /* 1 if kernels of `device` can work on memory of `peer` once that is enabled. */
  dl_status_t* (*can_access)(dl_vendor_t* vendor, int32_t device, int32_t peer,
                             int32_t* accessible);
  /* Enabling twice is enabling once. */
  dl_status_t* (*enable_access)(dl_vendor_t* vendor, int32_t device, int32_t peer);
  dl_status_t* (*disable_access)(dl_vendor_t* vendor, int32_t device, int32_t peer);

  /* Between two devices, with or without access. Enqueued on `stream`, a stream of
   * `source_device`. The ranges do not overlap. */
  dl_status_t* (*copy)(dl_vendor_t* vendor, int32_t source_device, const void* source,
                       int32_t destination_device, void* destination, uint64_t bytes, void* stream);

  /* `memory` is what memory_allocate returned. The handle means something until it is freed. */
  dl_status_t* (*export_memory)(dl_vendor_t* vendor, int32_t device, void* memory,
                                dl_peer_handle_t* handle);
  /* The same memory in another process, `bytes` long; not in the one that exported it. */
  dl_status_t* (*open_memory)(dl_vendor_t* vendor, int32_t device, const dl_peer_handle_t* handle,
                              void** memory, uint64_t* bytes);
  /* No enqueued work may use the memory. */
  dl_status_t* (*close_memory)(dl_vendor_t* vendor, int32_t device, void* memory);

  /* The same for events, so that a stream of one process waits for one of another. An event that
   * was opened is destroyed by event_destroy. */
  dl_status_t* (*export_event)(dl_vendor_t* vendor, int32_t device, void* event,
                               dl_peer_handle_t* handle);
  dl_status_t* (*open_event)(dl_vendor_t* vendor, int32_t device, const dl_peer_handle_t* handle,
                             void** event);
  /* append new slots here, never reorder */
} dl_peer_extension_t;

DL_EXTERN_C_END
#endif
