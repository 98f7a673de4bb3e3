// ROCm's libraries that this one uses where they are installed.
#ifndef DL_ROCM_LIBRARY_COMPANIONS_H_
#define DL_ROCM_LIBRARY_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::rocm {

// With a driver that DL_ROCM_DRIVER names, only those that variables name, too.
const kit::Companion& blaslt_companion();
const kit::Companion& miopen_companion();
const kit::Companion& rccl_companion();
const kit::Companion& roctracer_companion();

// Whether operators may use the libraries that compute: false for DL_ROCM_LIBRARIES=off.
bool libraries_wanted();

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_COMPANIONS_H_
