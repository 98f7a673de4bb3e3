/* libdiopirt.so.1: the runtime functions as exported symbols, for libraries in DIOPI's own
 * convention that leave them undefined. Libraries built with diopi/diopirt.h have them inline and
 * need no libdiopirt. */
#define DIOPIRT_IMPLEMENT
#include "diopi/diopirt.h"

DL_DEFINE_CURRENT_CONTEXT;

diopiContextHandle_t diopirt_set_current_context(diopiContextHandle_t ctx) {
  diopiContextHandle_t before = dl_current_context;
  dl_current_context = ctx;
  return before;
}
