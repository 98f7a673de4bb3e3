// Messages for invalid arguments. A kernel returns the status of `fail`; the vendor's last_error
// slot passes the text on.
#ifndef DL_KERNELS_BASE_ERROR_H_
#define DL_KERNELS_BASE_ERROR_H_

#include <cstdarg>
#include <cstdio>

#include "diopi/types.gen.h"
#include "dl/operator.hpp"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// Format a message like printf; the operator is prefixed in brackets.
__attribute__((cold, noinline, format(printf, 2, 3))) inline diopiError_t fail(const char* op,
                                                                               const char* format,
                                                                               ...) {
  char text[512];
  int used = std::snprintf(text, sizeof(text), "[%s] ", op);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text + used, sizeof(text) - static_cast<size_t>(used), format, arguments);
  va_end(arguments);
  dl::set_last_error(text);
  return diopiErrorOccurred;
}

#define DL_TRY(expression)                                                        \
  do {                                                                            \
    const diopiError_t dl_try_status = (expression);                              \
    if (__builtin_expect(dl_try_status != diopiSuccess, 0)) return dl_try_status; \
  } while (0)

DL_KERNELS_END

#endif  // DL_KERNELS_BASE_ERROR_H_
