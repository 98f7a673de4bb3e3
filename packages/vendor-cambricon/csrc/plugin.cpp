// The entry symbol of the Cambricon vendor and its operators, which CNNL implements.
#include "generated/operators.gen.h"
#include "runtime/vendor.h"

namespace dl::cambricon {

kit::Operators Vendor::operators() { return served_operators(); }

}  // namespace dl::cambricon

DL_KIT_VENDOR(dl::cambricon::Vendor)
