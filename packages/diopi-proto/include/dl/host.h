/* What a host offers to every vendor instance it creates. */
#ifndef DL_HOST_H_
#define DL_HOST_H_

#include "dl/base.h"

DL_EXTERN_C_BEGIN

typedef enum {
  DL_LOG_DEBUG = 0,
  DL_LOG_INFO = 1,
  DL_LOG_WARNING = 2,
  DL_LOG_ERROR = 3,
} dl_log_level_t;

/* How exact products of float32 matrices have to be. */
typedef enum {
  DL_MATMUL_FLOAT32 = 0, /* factors keep their 24 digits */
  DL_MATMUL_TF32 = 1,    /* factors may be rounded to 11 digits; sums are kept in float32 */
} dl_matmul_precision_t;

/* Runs `body(arg, begin, end)` over a part of the range. May be called from several threads at
 * once. */
typedef void (*dl_range_fn)(void* arg, int64_t begin, int64_t end);

/* Valid from before dl_vendor_v1 is called until after the instance is destroyed. All functions may
 * be called from any thread, at any time. NULL slots mean "not supported". */
typedef struct dl_host {
  uint64_t struct_size;
  dl_extension_t* extensions;
  const char* name;    /* "torch", "numpy", … */
  const char* version; /* for messages only; never compare */

  /* Host memory. `alignment` is a power of two. Returns NULL when there is none. */
  void* (*allocate)(const struct dl_host* host, uint64_t bytes, uint64_t alignment);
  void (*deallocate)(const struct dl_host* host, void* memory);

  void (*log)(const struct dl_host* host, int32_t level, const char* message);

  /* Splits [begin, end) into pieces of at least `grain` and runs `body` on all of them, on the
   * calling thread too; returns when all have run. Nested calls run on the calling thread alone.
   * `body` must not throw. Returns 0, or a dl_code_t when the pool is unusable (after a fork):
   * nothing has run then. */
  int32_t (*parallel_for)(const struct dl_host* host, int64_t begin, int64_t end, int64_t grain,
                          dl_range_fn body, void* arg);
  /* How many threads parallel_for would use now, at least 1. */
  int32_t (*num_threads)(const struct dl_host* host);

  /* What users put up with at this moment, a dl_matmul_precision_t: operators that are products of
   * matrices read it when they are called. A vendor may be more exact; without this slot, and for
   * numbers that it does not know, it is DL_MATMUL_FLOAT32. */
  int32_t (*float32_matmul_precision)(const struct dl_host* host);
  /* append new slots here, never reorder */
} dl_host_t;

DL_EXTERN_C_END
#endif
