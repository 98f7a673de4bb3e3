/* What a vendor offers beyond its table, and the rules that all extensions share.
 *
 * An extension is a struct that begins as dl_extension_t and then holds slots alone, each a
 * function that takes the instance first. It is the vendor's and lives as long as the instance. The
 * rules of dl/vendor.h hold for it: slots are only ever appended, a NULL slot and one that
 * struct_size does not reach mean "not supported", statuses are the caller's, nothing is thrown.
 *
 * Structs that go in begin with struct_size as the caller compiled it, and live as long as the call
 * unless it says otherwise. Structs that a slot fills (…_properties_t) have struct_size set by the
 * caller, and the vendor writes no field beyond it. Objects that a slot hands out have a `release`
 * of their own, as statuses do.
 *
 * Handles (modules, functions, graphs, communicators) are opaque, never NULL, and belong to the
 * device they were made for. */
#ifndef DL_EXTENSION_H_
#define DL_EXTENSION_H_

#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* The extension of this type, or NULL. The caller casts it to its struct, and tests each slot with
 * DL_HAS_FIELD and for NULL. */
static inline const dl_extension_t* dl_extension_find(const dl_vendor_table_t* table,
                                                      uint64_t type) {
  const dl_extension_t* link =
      DL_HAS_FIELD(table, dl_vendor_table_t, extensions) ? table->extensions : NULL;
  while (link != NULL && link->type != type) link = link->next;
  return link;
}

DL_EXTERN_C_END
#endif
