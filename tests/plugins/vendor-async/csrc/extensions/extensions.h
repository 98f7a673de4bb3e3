#ifndef DL_ASYNC_TEST_EXTENSIONS_EXTENSIONS_H_
#define DL_ASYNC_TEST_EXTENSIONS_EXTENSIONS_H_

#include "dl/base.h"

namespace dl::async_test {

/** Return an extension as the first link of a chain that continues with `next`. */
dl_extension_t* control_extension(dl_extension_t* next);
dl_extension_t* graph_extension(dl_extension_t* next);
dl_extension_t* profiler_extension(dl_extension_t* next);
dl_extension_t* communicator_extension(dl_extension_t* next);
dl_extension_t* peer_extension(dl_extension_t* next);

}  // namespace dl::async_test

#endif
