// CANN's optional libraries.
#ifndef DL_ASCEND_EXTENSIONS_COMPANIONS_H_
#define DL_ASCEND_EXTENSIONS_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::ascend {

// If DL_ASCEND_DRIVER names a library, only libraries that are named explicitly are used.
const kit::Companion& hccl_companion();
const kit::Companion& mspti_companion();
const kit::Companion& rtc_companion();

}  // namespace dl::ascend

#endif  // DL_ASCEND_EXTENSIONS_COMPANIONS_H_
