// The entry symbol of the Ascend vendor and its operators, which CANN's library implements.
#include "generated/operators.gen.h"
#include "runtime/vendor.h"

namespace dl::ascend {

kit::Operators Vendor::operators() { return served_operators(); }

}  // namespace dl::ascend

DL_KIT_VENDOR(dl::ascend::Vendor)
