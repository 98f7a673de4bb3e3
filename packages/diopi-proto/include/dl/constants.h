/* The constants extension: memory whose contents stay what they are, so that a vendor may keep what
 * it makes of them: weights in the layout that its kernels are fastest with.
 *
 * A host declares a range of device memory, and forgets it before it is freed, or when something
 * has written to it. Both free what was kept of it, for others who have declared it, too: they may
 * not know of the write yet. Only calls of a thread that uses constants read what was kept, and may
 * give other bits for it, within the operators' tolerance; all others read the memory as it is.
 * Ranges are of the library's copy in this process: instances and devices whose calls it serves
 * share them. */
#ifndef DL_CONSTANTS_H_
#define DL_CONSTANTS_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

typedef struct dl_constants_statistics {
  uint64_t struct_size;
  uint64_t ranges; /* that are declared now */
  uint64_t bytes;  /* of them */
  uint64_t kept;   /* things made of constants that are kept now */
  uint64_t kept_bytes;
} dl_constants_statistics_t;

typedef struct dl_constants_extension {
  uint64_t struct_size;
  uint64_t type; /* DL_EXT_CONSTANTS */
  dl_extension_t* next;

  /* `bytes` from `memory` on are constant from now on. What is declared twice is to be forgotten
   * twice. NULL, or 0 bytes, is DL_INVALID_ARGUMENT. */
  dl_status_t* (*declare)(dl_vendor_t* vendor, int32_t device, const void* memory, uint64_t bytes);
  /* The opposite. No call that reads the range may be running. What was not declared as this very
   * range is DL_INVALID_ARGUMENT. */
  dl_status_t* (*forget)(dl_vendor_t* vendor, int32_t device, const void* memory, uint64_t bytes);
  /* Whether the calls that this thread makes from now on use constants: 1 or 0, as in the
   * beginning. Who uses them has seen that no declared range has been written to. */
  dl_status_t* (*use)(dl_vendor_t* vendor, int32_t device, int32_t on);
  dl_status_t* (*statistics)(dl_vendor_t* vendor, int32_t device,
                             dl_constants_statistics_t* statistics);
  /* append new slots here, never reorder */
} dl_constants_extension_t;

DL_EXTERN_C_END
#endif
