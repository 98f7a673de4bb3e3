// Conversion of the vendor interface's error objects to torch's C++ exceptions.
#pragma once

#include <string>

#include "dl/status.h"

namespace dl::core {

// Throws if `status` is an error: c10::OutOfMemoryError for DL_OUT_OF_MEMORY, otherwise c10::Error.
// The message has `what` (the function), the vendor, its message and its details. Frees `status`.
void check_status(dl_status_t* status, const char* what, const std::string& vendor);
// Same, but returns false for DL_NOT_SUPPORTED.
bool check_supported(dl_status_t* status, const char* what, const std::string& vendor);

// For destructors and noexcept contexts: logs instead of throwing.
void warn_status(dl_status_t* status, const char* what, const std::string& vendor) noexcept;

}  // namespace dl::core
