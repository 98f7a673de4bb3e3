/* A vendor whose answers are checked: what hosts put between themselves and a library. Offered by
 * dl/checked.hpp to hosts in C++, and to others by the wheel's libdl_host.so. Not part of the
 * contract: no vendor sees it. */
#ifndef DL_CHECKED_H_
#define DL_CHECKED_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* What dl_checked_open found out. */
typedef struct dl_opened {
  dl_vendor_t* vendor;  /* as the library made it: for the contexts of its operators */
  dl_vendor_t* checked; /* a table around it that keeps what the contract promises */
  char defect[512];     /* how the library breaks the interface; empty if it does not */
} dl_opened_t;

/* Calls the entry symbol of a library and checks what it returns. A status is the library's own
 * refusal; a defect ends a sentence that begins with the entry's name. Otherwise `checked` belongs
 * to the caller, whose `destroy` destroys both.
 *
 * The table of `checked` has the slots that the library has; each catches C++ exceptions, and every
 * status, text, count, address and struct that it hands on was checked: statuses and texts are
 * whole and one line of printable UTF-8, memory is there and aligned, counts are possible. What
 * does not keep the contract becomes a status that says so. */
dl_status_t* dl_checked_open(dl_vendor_entry_v1_t entry, const dl_host_t* host,
                             dl_opened_t* opened);

/* Copies at most `size` - 1 bytes of a foreign text, made printable, and a terminating zero; the
 * text may be NULL, unterminated or no pointer at all. Returns the length. */
uint64_t dl_checked_text(const char* text, char* out, uint64_t size);

DL_EXTERN_C_END
#endif
