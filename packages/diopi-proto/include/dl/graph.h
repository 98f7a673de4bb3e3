/* The graph extension: what is enqueued on a stream is recorded once and replayed at once.
 *
 * While a stream captures, work that is enqueued on it is recorded and does not run, with its
 * addresses, sizes and values as they are; the memory must stay allocated as long as the graph. A
 * stream that waits for an event of a capturing stream joins its capture, and must be waited for
 * before the end, unless the vendor refuses that. Waiting for a capturing stream, querying it, and
 * copies that need the host are DL_INVALID_ARGUMENT; the capture goes on. */
#ifndef DL_GRAPH_H_
#define DL_GRAPH_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

typedef struct dl_graph_properties {
  uint64_t struct_size;
  uint64_t nodes; /* items of work */
} dl_graph_properties_t;

typedef struct dl_graph_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_GRAPH */
  dl_extension_t* next;

  /* `flags` is zero. A stream that captures already is DL_INVALID_ARGUMENT. */
  dl_status_t* (*capture_begin)(dl_vendor_t* vendor, int32_t device, void* stream, uint64_t flags);
  /* Ends the capture also if it fails: the stream runs work again. */
  dl_status_t* (*capture_end)(dl_vendor_t* vendor, int32_t device, void* stream, void** graph);
  /* 1 while the stream captures. */
  dl_status_t* (*capture_status)(dl_vendor_t* vendor, int32_t device, void* stream,
                                 int32_t* capturing);

  dl_status_t* (*properties)(dl_vendor_t* vendor, int32_t device, void* graph,
                             dl_graph_properties_t* properties);
  /* Enqueues all of the graph as one item, in stream order. A graph may be enqueued again before it
   * has finished; its runs do not overlap. */
  dl_status_t* (*launch)(dl_vendor_t* vendor, int32_t device, void* graph, void* stream);
  /* No enqueued work may use the graph. */
  dl_status_t* (*destroy)(dl_vendor_t* vendor, int32_t device, void* graph);
  /* append new slots here, never reorder */
} dl_graph_extension_t;

DL_EXTERN_C_END
#endif
