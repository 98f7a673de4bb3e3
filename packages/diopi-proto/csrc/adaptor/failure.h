// Why the adaptor fails an operator, and the reasons of others put into words.
#pragma once

#include <stdexcept>
#include <string>

#include "dl/vendor.h"

namespace dl::adaptor {

// Leaves an adapted operator with a code, and with a reason for the host to tell.
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

// Whether an operator leaves the call to others, having written nothing.
inline bool declines(diopiError_t code) {
  return code == diopiNoImplement || code == diopiDtypeNotSupported ||
         code == diopiForceFallbackToCPU || code == diopi5DNotSupported;
}

}  // namespace dl::adaptor
