/* Error objects. A function that returns dl_status_t* returns NULL on success.
 * A non-NULL status belongs to the caller, who must call `release` once. */
#ifndef DL_STATUS_H_
#define DL_STATUS_H_

#include "dl/base.h"

DL_EXTERN_C_BEGIN

/* Codes; stored as int32_t, so that an older reader can handle a later code. */
typedef enum {
  DL_OK = 0,
  DL_ERROR = 1,            /* anything without a code of its own */
  DL_INVALID_ARGUMENT = 2, /* the caller passed a value outside the documented range */
  DL_OUT_OF_MEMORY = 3,
  DL_NOT_SUPPORTED = 4, /* an ordinary result: the host falls back to another implementation */
  DL_UNAVAILABLE = 5,   /* no usable driver or device */
  DL_NOT_READY = 6,     /* from queries only */
  DL_ABI_MISMATCH = 7,
} dl_code_t;

typedef struct dl_status {
  uint64_t struct_size;
  int32_t code; /* dl_code_t */
  int32_t reserved;
  const char* message;   /* UTF-8, one sentence; lives until release */
  const char* operation; /* the failing call, e.g. "posix_memalign"; may be NULL */
  void (*release)(struct dl_status* self);
  /* Further lines, such as a compiler's log. UTF-8, lives until release; may be NULL. */
  const char* details;
} dl_status_t;

DL_EXTERN_C_END
#endif
