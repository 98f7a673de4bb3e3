/* The peer extension: access to the memory of another device of the vendor, and sharing of memory
 * and events between processes (IPC). */
#ifndef DL_PEER_H_
#define DL_PEER_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Handle of exported memory, or of an event, for other processes of the same user on the same
 * machine. It is sent to them as plain bytes. */
typedef struct dl_peer_handle {
  uint8_t bytes[128];
} dl_peer_handle_t;

typedef struct dl_peer_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_PEER */
  dl_extension_t* next;

  /* 1 if kernels of `device` can access memory of `peer` after enable_access. */
  dl_status_t* (*can_access)(dl_vendor_t* vendor, int32_t device, int32_t peer,
                             int32_t* accessible);
  /* Enabling twice has the same effect as enabling once. */
  dl_status_t* (*enable_access)(dl_vendor_t* vendor, int32_t device, int32_t peer);
  dl_status_t* (*disable_access)(dl_vendor_t* vendor, int32_t device, int32_t peer);

  /* Copies between two devices, whether or not access is enabled. Enqueued on `stream`, a stream of
   * `source_device`. The ranges do not overlap. */
  dl_status_t* (*copy)(dl_vendor_t* vendor, int32_t source_device, const void* source,
                       int32_t destination_device, void* destination, uint64_t bytes, void* stream);

  /* Exports `memory`, an address returned by memory_allocate. The handle is valid until the memory
   * is freed. */
  dl_status_t* (*export_memory)(dl_vendor_t* vendor, int32_t device, void* memory,
                                dl_peer_handle_t* handle);
  /* Maps exported memory of `bytes` bytes into another process, not into the exporting one. */
  dl_status_t* (*open_memory)(dl_vendor_t* vendor, int32_t device, const dl_peer_handle_t* handle,
                              void** memory, uint64_t* bytes);
  /* No enqueued work may use the memory. */
  dl_status_t* (*close_memory)(dl_vendor_t* vendor, int32_t device, void* memory);

  /* The same for events, so that a stream of one process can wait for a stream of another. An
   * opened event is destroyed by event_destroy. */
  dl_status_t* (*export_event)(dl_vendor_t* vendor, int32_t device, void* event,
                               dl_peer_handle_t* handle);
  dl_status_t* (*open_event)(dl_vendor_t* vendor, int32_t device, const dl_peer_handle_t* handle,
                             void** event);
  /* append new slots here, never reorder */
} dl_peer_extension_t;

DL_EXTERN_C_END
#endif
