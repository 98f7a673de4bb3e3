// Errors of the adaptor, and conversion of statuses into them.
#pragma once

#include <stdexcept>
#include <string>

#include "dl/vendor.h"

namespace dl::adaptor {

// Error of an adapted operator: a code, and a message that the host reports.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& reason, diopiError_t code = diopiErrorOccurred)
      : std::runtime_error(reason), code(code) {}
  diopiError_t code;
};

// Throws Failure for a status, which it releases; `what` failed.
inline void check(dl_status_t* status, const std::string& what) {
  if (status == nullptr) return;
  const std::string said = status->message == nullptr ? "no reason given" : status->message;
  status->release(status);
  throw Failure(what + ": " + said);
}

// Returns true for codes with which an operator declines a call without having written anything.
inline bool declines(diopiError_t code) {
  return code == diopiNoImplement || code == diopiDtypeNotSupported ||
         code == diopiForceFallbackToCPU || code == diopi5DNotSupported;
}

}  // namespace dl::adaptor
