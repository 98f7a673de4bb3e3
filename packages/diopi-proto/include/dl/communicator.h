/* The communicator extension: collectives and messages between devices, one rank each.
 *
 * All ranks call the same collectives in the same order with equal counts, dtypes and operations.
 * Calls are enqueued on their stream and return; buffers are device memory of the communicator's
 * device. Send and receive buffers do not overlap, with these exceptions: they may be the same
 * buffer; for all_gather the send buffer may be the rank's part of the receive buffer; for
 * reduce_scatter the receive buffer may be the rank's part of the send buffer. Counts are numbers
 * of elements; a count of 0 is allowed. Slots that take a communicator have no device argument: the
 * vendor itself makes the communicator's device current. */
#ifndef DL_COMMUNICATOR_H_
#define DL_COMMUNICATOR_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Identifier of a communicator, shared by all of its ranks. One rank sends it to the others as
 * plain bytes. A vendor whose identifiers are longer implements id_size, sized_unique_id and
 * sized_create, all three, instead of unique_id and create. */
typedef struct dl_communicator_id {
  uint8_t bytes[128];
} dl_communicator_id_t;

/* Reductions; passed as int32_t, so that an older vendor can reject a later reduction. */
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
  /* Called by every rank, each in its own thread or process. Returns when all ranks have joined, or
   * DL_UNAVAILABLE after `seconds` if that is positive (timeout). */
  dl_status_t* (*create)(dl_vendor_t* vendor, int32_t device, const dl_communicator_id_t* id,
                         int32_t ranks, int32_t rank, double seconds, void** communicator);
  /* No enqueued work may use the communicator. */
  dl_status_t* (*destroy)(dl_vendor_t* vendor, void* communicator);
  /* Fails all work enqueued on the communicator, on this rank and on ranks that wait for it, and
   * rejects later calls. May be called from any thread at any time before destroy. */
  dl_status_t* (*abort)(dl_vendor_t* vendor, void* communicator);
  /* Returns the first error of the enqueued work, or NULL if there is none so far. The error is not
   * cleared. Does not wait. */
  dl_status_t* (*check)(dl_vendor_t* vendor, void* communicator);
  dl_status_t* (*properties)(dl_vendor_t* vendor, void* communicator,
                             dl_communicator_properties_t* properties);

  /* Calls of this thread between group_begin and group_end are enqueued together by the outermost
   * group_end, so that sends and receives of one rank do not wait for each other. Groups nest. */
  dl_status_t* (*group_begin)(dl_vendor_t* vendor);
  dl_status_t* (*group_end)(dl_vendor_t* vendor);

  /* receive[i] is the reduction of send[i] over all ranks; `count` elements each. */
  dl_status_t* (*all_reduce)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                             void* stream);
  /* As all_reduce, with the result on `root` only; `receive` may be NULL elsewhere. */
  dl_status_t* (*reduce)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                         uint64_t count, int32_t dtype, int32_t reduce, int32_t root, void* stream);
  /* Copies `send` of `root` to `receive` of all ranks; `send` may be NULL elsewhere. */
  dl_status_t* (*broadcast)(dl_vendor_t* vendor, void* communicator, const void* send,
                            void* receive, uint64_t count, int32_t dtype, int32_t root,
                            void* stream);
  /* Concatenates the `count` elements of each rank: `receive` has ranks × count elements. */
  dl_status_t* (*all_gather)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, void* stream);
  /* `send` has ranks × count elements; rank r receives part r of the reduction, `count` elements.
   */
  dl_status_t* (*reduce_scatter)(dl_vendor_t* vendor, void* communicator, const void* send,
                                 void* receive, uint64_t count, int32_t dtype, int32_t reduce,
                                 void* stream);
  /* Copies part p of `send` to part `rank` of `receive` of rank p; a part has `count` elements. */
  dl_status_t* (*all_to_all)(dl_vendor_t* vendor, void* communicator, const void* send,
                             void* receive, uint64_t count, int32_t dtype, void* stream);
  /* As all_gather, with the result on `root` only; `receive` may be NULL elsewhere. */
  dl_status_t* (*gather)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                         uint64_t count, int32_t dtype, int32_t root, void* stream);
  /* Copies part r of `send` of `root` to rank r; `send` may be NULL elsewhere. */
  dl_status_t* (*scatter)(dl_vendor_t* vendor, void* communicator, const void* send, void* receive,
                          uint64_t count, int32_t dtype, int32_t root, void* stream);
  /* Sends and receives between two ranks match in the order in which each rank enqueues them. */
  dl_status_t* (*send)(dl_vendor_t* vendor, void* communicator, const void* send, uint64_t count,
                       int32_t dtype, int32_t peer, void* stream);
  dl_status_t* (*receive)(dl_vendor_t* vendor, void* communicator, void* receive, uint64_t count,
                          int32_t dtype, int32_t peer, void* stream);

  /* Identifiers of any size. Hosts prefer these slots if a vendor has both forms. The number of
   * bytes of an identifier, 1 to 1048576; the same on all ranks. */
  dl_status_t* (*id_size)(dl_vendor_t* vendor, uint64_t* bytes);
  /* As unique_id and create; `bytes` is the result of id_size, and `id` may be unaligned. */
  dl_status_t* (*sized_unique_id)(dl_vendor_t* vendor, void* id, uint64_t bytes);
  dl_status_t* (*sized_create)(dl_vendor_t* vendor, int32_t device, const void* id, uint64_t bytes,
                               int32_t ranks, int32_t rank, double seconds, void** communicator);
  /* append new slots here, never reorder */
} dl_communicator_extension_t;

DL_EXTERN_C_END
#endif
