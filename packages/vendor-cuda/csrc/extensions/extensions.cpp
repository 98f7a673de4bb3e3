// The chain of this vendor's extensions.
#include "dl/kit/driver_extensions.h"
#include "extensions/companions.h"
#include "runtime/vendor.h"

namespace dl::cuda {

dl_extension_t* Vendor::extensions() {
  return kit::driver_extensions<Vendor>(nccl_companion().present(), cupti_companion().present());
}

}  // namespace dl::cuda
