#include "runtime/status.h"

#include <c10/util/Exception.h>

namespace dl::core {
namespace {

struct Failure {
  int32_t code;
  std::string text;
};

// dl/checked.h has already validated the texts of the status.
Failure take(dl_status_t* status, const char* what, const std::string& vendor) {
  Failure failure{status->code, "[dl] " + std::string(what) + " failed on vendor " + vendor + ": " +
                                    status->message};
  if (status->operation != nullptr) failure.text += " (in " + std::string(status->operation) + ")";
  // A compiler's log, for example.
  if (status->details != nullptr) failure.text += "\n" + std::string(status->details);
  status->release(status);
  return failure;
}

}  // namespace

void check_status(dl_status_t* status, const char* what, const std::string& vendor) {
  if (C10_LIKELY(status == nullptr)) return;
  const Failure failure = take(status, what, vendor);
  TORCH_CHECK_WITH(OutOfMemoryError, failure.code != DL_OUT_OF_MEMORY, failure.text);
  TORCH_CHECK(false, failure.text);
}

bool check_supported(dl_status_t* status, const char* what, const std::string& vendor) {
  if (C10_LIKELY(status == nullptr)) return true;
  if (status->code == DL_NOT_SUPPORTED) {
    status->release(status);
    return false;
  }
  check_status(status, what, vendor);
  return true;
}

void warn_status(dl_status_t* status, const char* what, const std::string& vendor) noexcept {
  if (status == nullptr) return;
  try {
    TORCH_WARN(take(status, what, vendor).text);
  } catch (...) {
    // The user may have turned warnings into errors, but a destructor must not throw.
  }
}

}  // namespace dl::core
