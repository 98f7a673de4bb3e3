// The chain of this vendor's extensions.
#include "runtime/vendor.h"

namespace dl::ascend {

dl_extension_t* Vendor::extensions() { return kit::graph_extension<Vendor>(nullptr); }

}  // namespace dl::ascend
