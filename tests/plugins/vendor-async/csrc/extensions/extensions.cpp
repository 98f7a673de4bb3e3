#include "extensions/extensions.h"

#include "instance.h"

namespace dl::async_test {

dl_extension_t* Instance::extensions() {
  dl_extension_t* chain = nullptr;
  for (const auto link : {control_extension, graph_extension, profiler_extension,
                          communicator_extension, peer_extension}) {
    chain = link(chain);
  }
  return chain;
}

}  // namespace dl::async_test
