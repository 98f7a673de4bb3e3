// The chain of this vendor's extensions.
#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/peer.h"
#include "dl/kit/profiler.h"
#include "library/companions.h"
#include "runtime/vendor.h"

namespace dl::rocm {

dl_extension_t* Vendor::extensions() {
  dl_extension_t* chain = nullptr;
  for (const auto link :
       {kit::peer_extension<Vendor>, kit::graph_extension<Vendor>, kit::kernel_extension<Vendor>}) {
    chain = link(chain);
  }
  // Without these libraries, hosts use gloo and events, which is better than an extension that
  // fails.
  if (rccl_companion().present()) chain = kit::communicator_extension<Vendor>(chain);
  if (roctracer_companion().present()) chain = kit::profiler_extension<Vendor>(chain);
  return chain;
}

}  // namespace dl::rocm
