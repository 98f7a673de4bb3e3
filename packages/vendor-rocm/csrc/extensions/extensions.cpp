// The chain of this vendor's extensions.
#include "dl/kit/driver_extensions.h"
#include "library/companions.h"
#include "runtime/vendor.h"

namespace dl::rocm {

dl_extension_t* Vendor::extensions() {
  return kit::driver_extensions<Vendor>(rccl_companion().present(),
                                        roctracer_companion().present());
}

}  // namespace dl::rocm
