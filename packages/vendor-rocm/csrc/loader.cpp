// HIP's runtime, as far as the code that hipcc makes calls it, over the driver.
#include "dl/kit/hip_loader.h"

#include "runtime/driver.h"

DL_KIT_BEGIN

HipDriver& hip_loader_driver() { return ::dl::rocm::the_driver(); }

DL_KIT_END
