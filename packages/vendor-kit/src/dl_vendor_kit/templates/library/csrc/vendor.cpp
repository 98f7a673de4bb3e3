#include "vendor.h"

#include "generated/operators.gen.h"

namespace __chip__ {

dl::kit::Operators Vendor::operators() { return served_operators(); }

}  // namespace __chip__

// The library's only exported symbol.
DL_KIT_VENDOR(__chip__::Vendor)
