/* Extensions of the vendor table, and the rules that all extensions share.
 *
 * An extension is a struct that begins with the fields of dl_extension_t, followed by slots:
 * functions whose first argument is the instance. The vendor owns it; it lives as long as the
 * instance. The rules of dl/vendor.h apply: slots are only ever appended; a slot that is NULL or
 * beyond struct_size means "not supported"; the caller owns a returned status; no exception leaves
 * a slot.
 *
 * Structs passed to a slot begin with struct_size as the caller compiled it, and live until the
 * call returns unless documented otherwise. For structs that a slot fills (…_properties_t) the
 * caller sets struct_size, and the vendor writes no field beyond it. Objects that a slot returns
 * have their own `release`, as statuses do.
 *
 * Handles (modules, functions, graphs, communicators) are opaque, never NULL, and belong to the
 * device for which they were created. */
#ifndef DL_EXTENSION_H_
#define DL_EXTENSION_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Returns the extension of this type, or NULL. The caller casts it to its struct and tests each
 * slot with DL_HAS_FIELD and for NULL. */
static inline const dl_extension_t* dl_extension_find(const dl_vendor_table_t* table,
                                                      uint64_t type) {
  const dl_extension_t* link =
      DL_HAS_FIELD(table, dl_vendor_table_t, extensions) ? table->extensions : NULL;
  while (link != NULL && link->type != type) link = link->next;
  return link;
}

DL_EXTERN_C_END
#endif
