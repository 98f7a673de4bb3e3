// The extensions of a vendor with a driver like CUDA's.
#ifndef DL_KIT_DRIVER_EXTENSIONS_H_
#define DL_KIT_DRIVER_EXTENSIONS_H_

#include "dl/kit/base.h"
#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/peer.h"
#include "dl/kit/profiler.h"

DL_KIT_BEGIN

// Returns the chain of extensions of the vendor's class. Without the libraries of the communicator
// and the profiler extension, hosts use gloo and events, which is better than an extension that
// fails.
template <class V>
dl_extension_t* driver_extensions(bool has_collectives, bool has_tracer) {
  dl_extension_t* chain = kernel_extension<V>(graph_extension<V>(peer_extension<V>(nullptr)));
  if (has_collectives) chain = communicator_extension<V>(chain);
  if (has_tracer) chain = profiler_extension<V>(chain);
  return chain;
}

DL_KIT_END

#endif  // DL_KIT_DRIVER_EXTENSIONS_H_
