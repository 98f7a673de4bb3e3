/* The constants extension: memory whose contents do not change, so that a vendor may cache data
 * derived from it, such as prepacked weights in the layout that its kernels prefer.
 *
 * A host declares a range of device memory, and forgets the range before the memory is freed or
 * after it was written to. Either call drops the cached data, also when another user has declared
 * the same range: that user may not know of the write yet. Only calls of threads that use constants
 * read the cached data; their results may differ in bits from those of other threads, within the
 * operators' tolerance. All other threads read the memory itself. Ranges belong to the loaded copy
 * of the library in this process: all instances and devices share them. */
#ifndef DL_CONSTANTS_H_
#define DL_CONSTANTS_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

typedef struct dl_constants_statistics {
  uint64_t struct_size;
  uint64_t ranges; /* declared now */
  uint64_t bytes;  /* of the declared ranges */
  uint64_t kept;   /* cached objects derived from constants, such as prepacked weights */
  uint64_t kept_bytes;
} dl_constants_statistics_t;

typedef struct dl_constants_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_CONSTANTS */
  dl_extension_t* next;

  /* Declares `bytes` bytes from `memory` on as constant. A range that is declared twice must be
   * forgotten twice. NULL or 0 bytes is DL_INVALID_ARGUMENT. */
  dl_status_t* (*declare)(dl_vendor_t* vendor, int32_t device, const void* memory, uint64_t bytes);
  /* Withdraws a declaration. No call that reads the range may be running. DL_INVALID_ARGUMENT if
   * exactly this range was not declared. */
  dl_status_t* (*forget)(dl_vendor_t* vendor, int32_t device, const void* memory, uint64_t bytes);
  /* Sets whether later calls of this thread use constants: 1, or 0 (default). The caller guarantees
   * that no declared range has been written to. */
  dl_status_t* (*use)(dl_vendor_t* vendor, int32_t device, int32_t on);
  dl_status_t* (*statistics)(dl_vendor_t* vendor, int32_t device,
                             dl_constants_statistics_t* statistics);
  /* append new slots here, never reorder */
} dl_constants_extension_t;

DL_EXTERN_C_END
#endif
