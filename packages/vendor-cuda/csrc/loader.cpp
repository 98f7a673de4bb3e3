// The parts of the CUDA runtime that nvcc's host code calls, implemented on the driver API.
#include "dl/kit/cuda_loader.h"

#include "runtime/driver.h"

DL_KIT_BEGIN

CudaDriver& cuda_loader_driver() { return ::dl::cuda::the_driver(); }

DL_KIT_END
