/* The communicator extension: collectives and messages between devices, one rank each.
 *
 * All ranks call the same collectives in the same order with equal counts, dtypes and operations.
 * Calls are enqueued on their stream and return; buffers are device memory of the communicator's
 * device. A send buffer may be the receive buffer, or for all_gather the rank's part of it, and for
 * reduce_scatter the receive buffer the rank's part of the send buffer; else they do not overlap.
 * Counts are elements of diopiDtype_t; a count of 0 is allowed. Slots that take a communicator name
 * no device: the vendor itself makes that of the communicator current. */
#ifndef DL_COMMUNICATOR_H_
#define DL_COMMUNICATOR_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Names one communicator to all of its ranks. Plain bytes, to be sent to the others. */
typedef struct dl_communicator_id {
  uint8_t bytes[128];
} dl_communicator_id_t;

/* An int32_t in calls, so that a later operation fits an older vendor, which refuses it. */
typedef enum {
  DL_REDUCE_SUM = 0,
  DL_REDUCE_PRODUCT = 1,
  DL_REDUCE_MINIMUM = 2,
  DL_REDUCE_MAXIMUM = 3,
  DL_REDUCE_AVERAGE = 4,
} dl_reduce_t;

typedef struct dl_communicator_properties {
  uint64_t struct_size;
  int32_t rank;
  int32_t ranks;
  int32_t device;
  int32_t aborted; /* 1 after abort */
} dl_communicator_properties_t;

typedef struct dl_communicator_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_COMMUNICATOR */
  dl_extension_t* next;

  /* Called by one rank. */
  dl_status_t* (*unique_id)(dl_vendor_t* vendor, dl_communicator_id_t* id);
  /* Called by every rank, each on a thread or in a process of its own; returns when all have come,
   * or with DL_UNAVAILABLE after `seconds`, if that is more than 0. */
  dl_status_t* (*create)(dl_vendor_t* vendor, int32_t device, const dl_communicator_id_t* id,
                         int32_t ranks, int32_t rank, double seconds, void** communicator);
  /* No enqueued work may use the communicator. */
  dl_status_t* (*destroy)(dl_vendor_t* vendor, void* communicator);
  /* Makes all that is enqueued on it, here and by other ranks that wait for this one, end with an
   * error, and refuses what comes later. May be called from any thread, at any time before
   * destroy. */
  dl_status_t* (*abort)(dl_vendor_t* vendor, void* communicator);
  /* The first error of what was enqueued on it, which stays; NULL as long as there is none. Does
   * not wait. */
  dl_status_t* (*check)(dl_vendor_t* vendor, void* communicator);
  dl_status_t* (*properties)(dl_vendor_t* vendor, void* communicator,
                             dl_communicator_properties_t* properties);

  /* Calls of this thread between the two are enqueued together by the last group_end, so that
   * sends and receives of one rank do not wait for each other. Groups nest. */
  dl_status_t* (*group_begin)(dl_vendor_t* vendor);
  dl_status_t* (*group_end)(dl_vendor_t* vendor);

  /* receive[i] = send[i] of all ranks, combined. `count` elements each. */
  dl_status_t* (*all_reduce)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                             void* stream);
  /* As all_reduce, on `root` alone; `receive` may be NULL elsewhere. */
  dl_status_t* (*reduce)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                         uint64_t count, int32_t dtype, int32_t reduce, int32_t root, void* stream);
  /* `send` of `root` to `receive` of all; `send` may be NULL elsewhere. */
  dl_status_t* (*broadcast)(dl_vendor_t* vendor, void* communicator, const void* send,
                            void* receive, uint64_t count, int32_t dtype, int32_t root,
                            void* stream);
  /* `count` elements of each rank, one after the other: `receive` has ranks × count. */
  dl_status_t* (*all_gather)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, void* stream);
  /* `send` has ranks × count; rank r receives part r of the combination, `count` elements. */
  dl_status_t* (*reduce_scatter)(dl_vendor_t* vendor, void* communicator, const void* send,
                                 void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                                 void* stream);
  /* Part p of `send` goes to part `rank` of `receive` of rank p; `count` elements a part. */
  dl_status_t* (*all_to_all)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, void* stream);
  /* As all_gather, on `root` alone; `receive` may be NULL elsewhere. */
  dl_status_t* (*gather)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                         uint64_t count, int32_t dtype, int32_t root, void* stream);
  /* Part r of `send` of `root` to rank r; `send` may be NULL elsewhere. */
  dl_status_t* (*scatter)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                          uint64_t count, int32_t dtype, int32_t root, void* stream);
  /* Messages between two ranks match in the order in which each enqueues them. */
  dl_status_t* (*send)(dl_vendor_t* vendor, void* communicator, const void* send, uint64_t count,
                       int32_t dtype, int32_t peer, void* stream);
  dl_status_t* (*receive)(dl_vendor_t* vendor, void* communicator, void* receive, uint64_t count,
                          int32_t dtype, int32_t peer, void* stream);
  /* append new slots here, never reorder */
} dl_communicator_extension_t;

DL_EXTERN_C_END
#endif
