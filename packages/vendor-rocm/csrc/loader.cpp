// The parts of the HIP runtime that hipcc's host code calls, implemented on the module API.
#include "dl/kit/hip_loader.h"

#include "runtime/driver.h"

DL_KIT_BEGIN

HipDriver& hip_loader_driver() { return ::dl::rocm::the_driver(); }

DL_KIT_END
