// Failures of OpenCL's functions as exceptions.
#ifndef DL_OPENCL_RUNTIME_ERRORS_H_
#define DL_OPENCL_RUNTIME_ERRORS_H_

#include <string>

#include "dl/kit/status.h"
#include "runtime/cl.h"

namespace dl::opencl {

// The contract's code of a result.
inline dl_code_t code_of(cl::Int result) {
  switch (result) {
    case cl::kSuccess:
      return DL_OK;
    case cl::kNotReady:
      return DL_NOT_READY;
    case cl::kMemoryAllocationFailure:
    case cl::kOutOfHostMemory:
    case cl::kInvalidBufferSize:
      return DL_OUT_OF_MEMORY;
    case cl::kDeviceNotFound:
    case cl::kDeviceNotAvailable:
    case cl::kPlatformNotFound:
      return DL_UNAVAILABLE;
    default:
      return DL_ERROR;
  }
}

// Returns "CL_OUT_OF_RESOURCES (-5)".
inline std::string text_of(cl::Int result) {
  const std::string name = cl::name_of(result);
  return (name.empty() ? "an error of the driver" : name) + " (" + std::to_string(result) + ")";
}

// Throws kit::Error for a failure. `function` is a literal, and `what` says what could not be done.
inline void check(cl::Int result, const char* function, const std::string& what) {
  if (result == cl::kSuccess) return;
  throw kit::Error(code_of(result), what + ": " + text_of(result), function);
}

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_ERRORS_H_
