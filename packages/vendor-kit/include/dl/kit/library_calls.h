// Calls of libraries that convolve or multiply matrices, from the calls of dl-kernels.
#ifndef DL_KIT_LIBRARY_CALLS_H_
#define DL_KIT_LIBRARY_CALLS_H_

#include <cstdint>
#include <string>

#include "diopi/types.gen.h"
#include "dl/kit/base.h"
#include "dl/kit/convolution.h"
#include "dl/kit/convolution_cache.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// Returns the only instance of a library, which is never closed. Null if the library is disabled,
// missing, or not supported: `is_supported(library)`.
template <class Library, class IsSupported>
Library* open_library(bool enabled, const IsSupported& is_supported) {
  if (!enabled) return nullptr;
  static Library library;
  try {
    return is_supported(library) ? &library : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

// A library's constants for the dtypes that it computes with.
struct LibraryDtypes {
  int float32, float64, float16, bfloat16;
};
// Returns -1 for any other dtype.
inline int library_dtype(int dtype, const LibraryDtypes& constants) {
  switch (dtype) {
    case diopi_dtype_float32:
      return constants.float32;
    case diopi_dtype_float64:
      return constants.float64;
    case diopi_dtype_float16:
      return constants.float16;
    case diopi_dtype_bfloat16:
      return constants.bfloat16;
    default:
      return -1;
  }
}

// Runs a convolution with the calling thread's handle and plan for the current device, identified
// by `device`. `Plan::make(handle, call)` is called once for equal convolutions; `alignments`:
// plans depend on the alignment of tensors. Returns false if the library declines the call.
template <class Handle, class Plan, class Library>
bool convolve_with_plan(Library& library, const Convolution& call, uintptr_t device,
                        bool alignments) {
  auto& cache = thread_cache<Handle, Plan>();
  const Handle handle = cache.handle(device, [&library] {
    Handle made = nullptr;
    return library.create(&made) == 0 ? made : nullptr;
  });
  if (handle == nullptr) return false;
  const auto plan = cache.plans().get(ConvolutionKey(device, call, alignments),
                                      [&] { return Plan::make(handle, call); });
  return plan->possible() && plan->run(handle, call);
}

// Throws Error for a status that is not success (0), of a library that has accepted a convolution.
// `name` is the library's name; `variable` disables libraries.
template <class Library>
void check_convolution(Library& library, int status, const char* function, const char* name,
                       const char* variable) {
  if (status == 0) return;
  const char* const text = library.error_string(status);
  throw Error(DL_ERROR,
              std::string(name) + " accepted this convolution but failed to run it: " +
                  (text == nullptr ? "an unknown status" : text) + " (" + std::to_string(status) +
                  "); set " + variable + "=off to use dl's own kernels",
              function);
}

DL_KIT_END

#endif  // DL_KIT_LIBRARY_CALLS_H_
