/* The host table: functions that a host offers to every vendor instance it creates. */
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

/* Required precision of float32 matrix products and convolutions. */
typedef enum {
  DL_MATMUL_FLOAT32 = 0, /* factors keep their 24-bit significands */
  DL_MATMUL_TF32 = 1,    /* factors may be rounded to 11 bits; sums are accumulated in float32 */
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

  /* Host memory. `alignment` is a power of two. Returns NULL if memory is exhausted. */
  void* (*allocate)(const struct dl_host* host, uint64_t bytes, uint64_t alignment);
  void (*deallocate)(const struct dl_host* host, void* memory);

  void (*log)(const struct dl_host* host, int32_t level, const char* message);

  /* Splits [begin, end) into chunks of at least `grain` and runs `body` on each chunk, on pool
   * threads and the calling thread; returns when all chunks are done. Nested calls run on the
   * calling thread alone. `body` must not throw. Returns 0, or a dl_code_t if the thread pool is
   * unusable (after a fork); then nothing has run. */
  int32_t (*parallel_for)(const struct dl_host* host, int64_t begin, int64_t end, int64_t grain,
                          dl_range_fn body, void* arg);
  /* Number of threads that parallel_for would use now, at least 1. */
  int32_t (*num_threads)(const struct dl_host* host);

  /* The precision that users currently request for matrix products, a dl_matmul_precision_t;
   * operators read it on each call. A vendor may be more precise. Without this slot, and for
   * unknown values, the precision is DL_MATMUL_FLOAT32. */
  int32_t (*float32_matmul_precision)(const struct dl_host* host);
  /* The same for convolutions and their gradients. torch allows DL_MATMUL_TF32 by default here. */
  int32_t (*float32_convolution_precision)(const struct dl_host* host);

  /* 1 if users currently request deterministic algorithms: the same call on the same device has to
   * give the same bits. An operator reads it on each call, and chooses a deterministic algorithm if
   * it has one. 0 otherwise; also without this slot. */
  int32_t (*deterministic)(const struct dl_host* host);
  /* append new slots here, never reorder */
} dl_host_t;

DL_EXTERN_C_END
#endif
