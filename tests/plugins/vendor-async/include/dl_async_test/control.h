/* Extension of the asynchronous test vendor beyond the contract: a gate per stream, so that a test
 * decides when enqueued work runs, and counters. Found in the extension chain of the vendor table.
 */
#ifndef DL_ASYNC_TEST_CONTROL_H_
#define DL_ASYNC_TEST_CONTROL_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Types from 1000 on are left to tests. */
#define DL_EXT_ASYNC_TEST UINT64_C(1000)

typedef struct dl_async_test_counters {
  uint64_t struct_size;    /* set by the caller; the vendor writes no field beyond it */
  uint64_t items_enqueued; /* of all streams of the device, destroyed ones included */
  uint64_t items_started;  /* the difference to items_executed runs now, or waits for an event */
  uint64_t items_executed;
  uint64_t live_allocations;
  uint64_t live_bytes; /* as asked for, without rounding */
} dl_async_test_counters_t;

typedef struct dl_async_test_control {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_ASYNC_TEST */
  dl_extension_t* next;

  /* While a stream is held, it starts nothing; enqueueing and an item that already runs
   * continue. NULL is the device's default stream. Holding twice is holding once; destroying the
   * stream releases it. */
  dl_status_t* (*hold)(dl_vendor_t* vendor, int32_t device, void* stream);
  dl_status_t* (*release)(dl_vendor_t* vendor, int32_t device, void* stream);
  dl_status_t* (*counters)(dl_vendor_t* vendor, int32_t device, dl_async_test_counters_t* counters);
} dl_async_test_control_t;

DL_EXTERN_C_END
#endif
