/* The profiler extension: the activities of a device with their start and end times.
 *
 * Times are nanoseconds of the device's own clock, which runs evenly but has an arbitrary origin
 * and drift; `clock` relates it to the host's clock. */
#ifndef DL_PROFILER_H_
#define DL_PROFILER_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Kinds of activity; stored as uint32_t, so that an older reader can skip a later kind. */
typedef enum {
  DL_ACTIVITY_OTHER = 0,
  DL_ACTIVITY_KERNEL = 1,
  DL_ACTIVITY_COPY = 2,
  DL_ACTIVITY_SET = 3,
  DL_ACTIVITY_WAIT = 4, /* for an event */
  DL_ACTIVITY_COLLECTIVE = 5,
  DL_ACTIVITY_GRAPH = 6,
} dl_activity_kind_t;

typedef struct dl_activity {
  const char* name; /* UTF-8; lives until the records are released */
  uint32_t kind;    /* dl_activity_kind_t */
  int32_t device;
  void* stream;         /* as stream_create returned it; NULL is the default stream */
  uint64_t correlation; /* set by the thread that enqueued it, see `correlate`; 0: none */
  int64_t start;        /* nanoseconds of the device's clock */
  int64_t end;
  uint64_t bytes; /* moved by a copy, written by a set; else 0 */
} dl_activity_t;

/* Records ordered by start time. Later releases append fields to dl_activity_t: a reader advances
 * by `record_size` bytes. */
typedef struct dl_activities {
  uint64_t struct_size;
  uint64_t record_size;
  uint64_t count;
  const dl_activity_t* records;
  uint64_t dropped; /* activities that were not recorded because a buffer was full */
  void (*release)(struct dl_activities* self);
} dl_activities_t;

/* One instant, read from both clocks. */
typedef struct dl_clock {
  uint64_t struct_size;
  int64_t device;      /* nanoseconds of the device's clock */
  int64_t host;        /* nanoseconds of CLOCK_MONOTONIC */
  int64_t uncertainty; /* nanoseconds within which both clocks were read */
} dl_clock_t;

typedef struct dl_profiler_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_PROFILER */
  dl_extension_t* next;

  /* Starts recording the work enqueued on the device. `flags` is zero. Starting twice is
   * DL_INVALID_ARGUMENT: a device has one profiler at a time. */
  dl_status_t* (*start)(dl_vendor_t* vendor, int32_t device, uint64_t flags);
  /* Waits until the recorded work has finished, then stops. Records stay until collected. */
  dl_status_t* (*stop)(dl_vendor_t* vendor, int32_t device);
  /* Returns the finished activities that were not collected before. */
  dl_status_t* (*collect)(dl_vendor_t* vendor, int32_t device, dl_activities_t** activities);
  dl_status_t* (*clock)(dl_vendor_t* vendor, int32_t device, dl_clock_t* clock);
  /* Sets the correlation number of work that this thread enqueues from now on, on all devices; 0
   * for none. `before`, which may be NULL, receives the previous number. */
  dl_status_t* (*correlate)(dl_vendor_t* vendor, uint64_t correlation, uint64_t* before);
  /* append new slots here, never reorder */
} dl_profiler_extension_t;

DL_EXTERN_C_END
#endif
