// Wraps every operator of dl-kernels: makes the device of its context current.
#ifndef DL_OPENCL_RUNTIME_OPERATORS_H_
#define DL_OPENCL_RUNTIME_OPERATORS_H_

#include "dl/kit/operators.h"
#include "runtime/vendor.h"

#define DL_KERNELS_OPERATOR(function, op) DL_KIT_OPERATOR_BY(::dl::opencl::Vendor, function, op)

#endif  // DL_OPENCL_RUNTIME_OPERATORS_H_
