/* The layer that binds the operators of dl/added_operators.h over those of a vendor. The wheel's
 * libdl_host.so tries them in the same way for all hosts. Operators to which nothing is added are
 * not touched. Not part of the contract: vendors do not use this header. */
#ifndef DL_ADDED_LAYER_H_
#define DL_ADDED_LAYER_H_

#include "dl/adaptor.h"
#include "dl/added_operators.h"

DL_EXTERN_C_BEGIN

/* A library with added operators. Strings are copied. */
typedef struct dl_added_library {
  const char* name;  /* short, for profiles: "fast" */
  const char* label; /* for messages: "fast of dl-fast 1.0" */
  dl_operators_entry_v1_t entry;
} dl_added_library_t;

/* dl_added_row_t.state */
typedef enum {
  DL_ADDED_BOUND = 0,
  DL_ADDED_MISMATCHED = 1, /* built for another signature */
  DL_ADDED_UNKNOWN = 2,    /* not in this host's contract */
  DL_ADDED_REFUSED = 3,    /* the library has failed; `text` has the reason, there is no operator */
} dl_added_state_t;

/* One operator of one library. */
typedef struct dl_added_row {
  const char* operator_name; /* this and `text` live as long as the layer; NULL if refused */
  const char* text;
  int32_t library; /* index */
  int32_t device;  /* the vendor's index; -1: listed for devices of any kind */
  int32_t state;   /* dl_added_state_t */
  uint64_t calls;  /* that it has served, or failed; 0 for device -1 */
  uint64_t declined;
} dl_added_row_t;

/* Creates the layer. Libraries are in the order in which they are tried. `inner` is the layer of
 * the vendor's own operators, of which the caller stays the owner; NULL: it has none. Its `bind`
 * lists the operators of all libraries and uses no driver; the operators of a device are requested
 * at its first call. The owner destroys the layer with dl_added_destroy after the last call.
 * Returns NULL if memory is short. */
dl_adaptor_t* dl_added_make(const dl_added_library_t* libraries, uint64_t count,
                            dl_adaptor_t* inner);
void dl_added_destroy(dl_adaptor_t* layer);
/* Requests the operators of a device, unless a call has done that. */
void dl_added_select(dl_adaptor_t* layer, int32_t device);
/* Writes the first `size` rows and returns the number available: those for any device, followed by
 * those of the devices selected so far. */
uint64_t dl_added_rows(dl_adaptor_t* layer, dl_added_row_t* rows, uint64_t size);
/* Name of the library that served this thread's last call of an operator of an instance; NULL if
 * the vendor did. Lives as long as the layer. */
const char* dl_added_served(const dl_vendor_t* vendor, const char* operator_name);

DL_EXTERN_C_END
#endif
