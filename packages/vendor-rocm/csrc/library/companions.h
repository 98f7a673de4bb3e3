// ROCm's optional libraries.
#ifndef DL_ROCM_LIBRARY_COMPANIONS_H_
#define DL_ROCM_LIBRARY_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::rocm {

// If DL_ROCM_DRIVER names a driver, only libraries that are named explicitly are used.
const kit::Companion& blaslt_companion();
const kit::Companion& miopen_companion();
const kit::Companion& rccl_companion();
const kit::Companion& roctracer_companion();

// Returns true if operators may use vendor libraries: false for DL_ROCM_LIBRARIES=off.
bool libraries_enabled();

}  // namespace dl::rocm

#endif  // DL_ROCM_LIBRARY_COMPANIONS_H_
