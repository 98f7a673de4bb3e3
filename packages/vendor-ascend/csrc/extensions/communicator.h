// The communicator extension over HCCL.
#ifndef DL_ASCEND_EXTENSIONS_COMMUNICATOR_H_
#define DL_ASCEND_EXTENSIONS_COMMUNICATOR_H_

#include "dl/extension.h"

namespace dl::ascend {

// Returns the extension, linked before `next`.
dl_extension_t* communicator_extension(dl_extension_t* next);

}  // namespace dl::ascend

#endif  // DL_ASCEND_EXTENSIONS_COMMUNICATOR_H_
