// Errors in the data of a call, in the form in which checks report them to the host.
#ifndef DL_KERNELS_BASE_DATA_ERROR_H_
#define DL_KERNELS_BASE_DATA_ERROR_H_

#include <cstddef>

#include "dl/device_error.hpp"
#include "dl_kernels/base/config.h"
#include "dl_kernels/base/error.h"

DL_KERNELS_BEGIN

// `text` has the format of dl_device_error_t.
template <size_t kSize>
DL_FN void describe_as(dl_device_error_t& error, dl_device_error_kind_t kind,
                       const char (&text)[kSize]) {
  static_assert(kSize <= sizeof(error.text), "the text does not fit into the error word");
  error.kind = kind;
  for (size_t i = 0; i < kSize; ++i) error.text[i] = text[i];
}

inline diopiError_t fail_with(const char* op, const dl_device_error_t& error) {
  return fail(op, "%s", device_error_text(error).c_str());
}

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_DATA_ERROR_H_
