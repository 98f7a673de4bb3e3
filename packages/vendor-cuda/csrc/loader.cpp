// CUDA's runtime, as far as the code that nvcc makes calls it, over the driver.
#include "dl/kit/cuda_loader.h"

#include "runtime/driver.h"

DL_KIT_BEGIN

CudaDriver& cuda_loader_driver() { return ::dl::cuda::the_driver(); }

DL_KIT_END
