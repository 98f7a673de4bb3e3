/* A vendor instance whose results are validated: the wrapper that hosts put around a library.
 * C++ hosts include dl/checked.hpp; other hosts use the wheel's libdl_host.so. Not part of the
 * contract: vendors do not use this header. */
#ifndef DL_CHECKED_H_
#define DL_CHECKED_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Result of dl_checked_open. */
typedef struct dl_opened {
  dl_vendor_t* vendor;  /* the library's own instance, for the contexts of its operators */
  dl_vendor_t* checked; /* the wrapper, whose table satisfies the contract */
  char defect[512];     /* violation of the interface by the library; empty if none */
} dl_opened_t;

/* Calls the entry symbol of a library and validates its result. A returned status is the library's
 * own error. `defect` is the predicate of a sentence whose subject is the entry's name. On success
 * `checked` belongs to the caller; its `destroy` destroys both instances.
 *
 * The table of `checked` has the same slots as the library's. Each slot catches C++ exceptions and
 * validates every status, string, count, address and struct that the library returns: statuses and
 * strings are complete, one line of printable UTF-8; memory is mapped and aligned; counts are
 * plausible. A violation of the contract becomes a status that describes it. */
dl_status_t* dl_checked_open(dl_vendor_entry_v1_t entry, const dl_host_t* host,
                             dl_opened_t* opened);

/* Copies at most `size` - 1 bytes of a library's string, made printable, and a terminating zero.
 * The string may be NULL, unterminated or an invalid pointer. Returns the length. */
uint64_t dl_checked_text(const char* text, char* out, uint64_t size);

DL_EXTERN_C_END
#endif
