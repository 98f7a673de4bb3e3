// The chain of what this vendor offers beyond the table.
#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/peer.h"
#include "extensions/companions.h"
#include "runtime/vendor.h"

namespace dl::cuda {

dl_extension_t* Vendor::extensions() {
  dl_extension_t* chain = nullptr;
  for (const auto link :
       {kit::peer_extension<Vendor>, kit::graph_extension<Vendor>, kit::kernel_extension<Vendor>}) {
    chain = link(chain);
  }
  // Without NCCL hosts do better with collectives of their own than with a communicator that fails.
  if (nccl_companion().present()) chain = kit::communicator_extension<Vendor>(chain);
  return chain;
}

}  // namespace dl::cuda
