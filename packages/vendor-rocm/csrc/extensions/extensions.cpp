// The chain of what this vendor offers beyond the table.
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/peer.h"
#include "runtime/vendor.h"

namespace dl::rocm {

dl_extension_t* Vendor::extensions() {
  dl_extension_t* chain = nullptr;
  for (const auto link :
       {kit::peer_extension<Vendor>, kit::graph_extension<Vendor>, kit::kernel_extension<Vendor>}) {
    chain = link(chain);
  }
  return chain;
}

}  // namespace dl::rocm
