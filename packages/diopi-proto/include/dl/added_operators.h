/* Operators that a library adds to the devices of an existing vendor.
 *
 * Such a library exports one symbol, dl_operators_v1, which lists operators in the form of the
 * vendor table's array. Hosts try an added operator before the vendor's own. An operator declines a
 * call as a vendor's does, with diopiNoImplement, diopiDtypeNotSupported, diopi5DNotSupported or
 * diopiForceFallbackToCPU before it has written anything: then the host tries the next added
 * operator, and finally the vendor's. Any other error is the error of the call. The vendor may lack
 * the operator. dl_context_vendor is the vendor's instance, whose device is current as for its own
 * operators; memory, streams and generators are those of the vendor.
 *
 * The rules for versions, threads and exceptions are those of dl/vendor.h. A library is never
 * unloaded. */
#ifndef DL_ADDED_OPERATORS_H_
#define DL_ADDED_OPERATORS_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* The device for which a host requests operators. */
typedef struct dl_operators_target {
  uint64_t struct_size;
  const char* vendor;         /* name of the vendor: "cuda" */
  const char* vendor_version; /* for messages only; may be empty */
  /* NULL: the host asks for all operators that the library has for devices of any kind, to bind and
   * report their names. Before the first call on a device it asks again, with its properties. */
  const dl_device_properties_t* properties;
  int32_t device; /* the vendor's index of the device; -1 while `properties` is NULL */
  /* append new fields here, never reorder */
} dl_operators_target_t;

/* The operators of a library for one target. Everything it refers to lives until the process exits.
 */
typedef struct dl_added_operators {
  uint64_t struct_size; /* set by the caller; the library writes no field beyond it */
  const char* version;  /* of the library, for messages only; may be NULL */
  /* Each operator at most once. For a device, these are some of the operators for any device. */
  const dl_operator_t* operators;
  uint64_t count;
  /* Why the last operator of this library on this thread failed, or declined the call; valid until
   * the thread's next call of one. May return NULL; may be NULL. */
  const char* (*last_error)(void);
  /* append new fields here, never reorder */
} dl_added_operators_t;

/* The one exported symbol. Does not use a driver: `properties` describe the device. May be called
 * repeatedly, for one device after another. On failure *out is unchanged. */
typedef dl_status_t* (*dl_operators_entry_v1_t)(const dl_operators_target_t* target,
                                                dl_added_operators_t* out);
DL_EXPORT dl_status_t* dl_operators_v1(const dl_operators_target_t* target,
                                       dl_added_operators_t* out);

DL_EXTERN_C_END
#endif
