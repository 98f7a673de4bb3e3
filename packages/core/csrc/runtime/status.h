// Turns the vendor interface's error objects into C++ exceptions that torch knows.
#pragma once

#include <string>

#include "dl/status.h"

namespace dl::core {

// Throws when `status` is an error: c10::OutOfMemoryError for DL_OUT_OF_MEMORY, c10::Error
// otherwise. The message names `what` (the slot), the vendor and the vendor's own words. Releases
// the status.
void check_status(dl_status_t* status, const char* what, const std::string& vendor);
// The same, but for DL_NOT_SUPPORTED, an ordinary answer: false.
bool check_supported(dl_status_t* status, const char* what, const std::string& vendor);

// For destructors and noexcept paths: logs instead of throwing.
void warn_status(dl_status_t* status, const char* what, const std::string& vendor) noexcept;

}  // namespace dl::core
