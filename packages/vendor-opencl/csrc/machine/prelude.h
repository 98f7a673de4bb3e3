// The standard library's headers, with every function compiled for the host and the device: clang's
// HIP front end is used without HIP's headers. Included before all others.
#ifndef DL_OPENCL_MACHINE_PRELUDE_H_
#define DL_OPENCL_MACHINE_PRELUDE_H_

#include <cstdio>
#include <exception>
#include <new>

#pragma clang force_cuda_host_device begin
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#pragma clang force_cuda_host_device end

#endif  // DL_OPENCL_MACHINE_PRELUDE_H_
