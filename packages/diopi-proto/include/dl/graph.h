/* The graph extension (graph capture): records the work of a stream once and replays it as one
 * item.
 *
 * While a stream captures, work enqueued on it is recorded with its addresses, sizes and values,
 * and does not run; the memory must stay allocated as long as the graph lives. A stream that waits
 * for an event of a capturing stream joins the capture, and the capturing stream must wait for it
 * before the end; vendors may reject this. Synchronizing or querying a capturing stream, and copies
 * that need the host, return DL_INVALID_ARGUMENT; the capture continues. */
#ifndef DL_GRAPH_H_
#define DL_GRAPH_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

typedef struct dl_graph_properties {
  uint64_t struct_size;
  uint64_t nodes; /* recorded items of work */
} dl_graph_properties_t;

typedef struct dl_graph_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_GRAPH */
  dl_extension_t* next;

  /* `flags` is zero. A stream that captures already is DL_INVALID_ARGUMENT. */
  dl_status_t* (*capture_begin)(dl_vendor_t* vendor, int32_t device, void* stream, uint64_t flags);
  /* Ends the capture even if it fails: afterwards the stream executes its work again. */
  dl_status_t* (*capture_end)(dl_vendor_t* vendor, int32_t device, void* stream, void** graph);
  /* 1 while the stream captures. */
  dl_status_t* (*capture_status)(dl_vendor_t* vendor, int32_t device, void* stream,
                                 int32_t* capturing);

  dl_status_t* (*properties)(dl_vendor_t* vendor, int32_t device, void* graph,
                             dl_graph_properties_t* properties);
  /* Enqueues the whole graph as one item, in stream order. A graph may be enqueued again before it
   * has finished; its runs do not overlap. */
  dl_status_t* (*launch)(dl_vendor_t* vendor, int32_t device, void* graph, void* stream);
  /* No enqueued work may use the graph. */
  dl_status_t* (*destroy)(dl_vendor_t* vendor, int32_t device, void* graph);
  /* append new slots here, never reorder */
} dl_graph_extension_t;

DL_EXTERN_C_END
#endif
