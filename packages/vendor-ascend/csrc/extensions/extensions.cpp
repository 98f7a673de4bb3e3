// The chain of this vendor's extensions.
#include "dl/kit/kernel.h"
#include "dl/kit/profiler.h"
#include "extensions/communicator.h"
#include "extensions/companions.h"
#include "runtime/vendor.h"

namespace dl::ascend {

// Without its library, an extension is left out: hosts can work without it, but not with one that
// fails.
dl_extension_t* Vendor::extensions() {
  dl_extension_t* chain = kit::kernel_extension<Vendor>(kit::graph_extension<Vendor>(nullptr));
  if (hccl_companion().present()) chain = communicator_extension(chain);
  if (mspti_companion().present()) chain = kit::profiler_extension<Vendor>(chain);
  return chain;
}

}  // namespace dl::ascend
